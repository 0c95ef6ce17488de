/** Yields chunks as sockets do: in one reused buffer that is overwritten after each read. */

export function* borrowed(pieces: readonly Buffer[]): Generator<Buffer> {
  const memory = Buffer.alloc(Math.max(0, ...pieces.map(({ length }) => length)));
  for (const piece of pieces) {
    piece.copy(memory);
    yield memory.subarray(0, piece.length);
    memory.fill('!');
  }
}
