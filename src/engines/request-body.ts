/** A request body in pieces, some of them many megabytes of base64 → bytes for the socket, a bit at a time, so that other calls go on meanwhile. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A whole text; or texts to be sent one after another, every second of which is base64. */
export type RequestBody = string | readonly string[];

const SLICE = 256 * 1024;

export const bodyLength = (pieces: readonly string[]): number =>
  pieces.reduce((sum, piece, index) => sum + (isBase64(index) ? piece.length : Buffer.byteLength(piece)), 0);

export async function* bodyBytes(pieces: readonly string[]): AsyncGenerator<Buffer> {
  for (const [index, piece] of pieces.entries()) {
    if (!isBase64(index)) {
      yield Buffer.from(piece);
      continue;
    }
    for (let from = 0; from < piece.length; from += SLICE) {
      yield Buffer.from(piece.slice(from, from + SLICE), 'latin1');
      // A fast peer would otherwise take everything within one turn of the event loop.
      await nextTurn();
    }
  }
}

const isBase64 = (index: number): boolean => index % 2 === 1;
