/** Tests that every added byte is written once and in order, whatever the backpressure. */
import * as fc from 'fast-check';
import t from 'tap';
import { Pieces, pieceBytes } from '../../src/http/servers/pieces.ts';

const long = fc.record({
  unit: fc.constantFrom('a', 'é', '水', '🙂', 'ab'),
  times: fc.constantFrom(0, 1, 1000, 21_845, 30_000, 65_536, 140_000),
  asBytes: fc.boolean(),
});

t.test('any bytes and texts, any socket capacity', async (t) => {
  fc.assert(
    fc.property(fc.array(long, { maxLength: 4 }), fc.infiniteStream(fc.boolean()), (added, rooms) => {
      const pieces = new Pieces();
      const sent: Buffer[] = [];
      const texts = added.map(({ unit, times }) => unit.repeat(times));
      const write = (piece: Buffer): boolean => {
        sent.push(Buffer.from(piece));
        return rooms.next().value;
      };
      for (const [index, text] of texts.entries()) {
        const bytes = new Uint8Array(Buffer.from(text));
        pieces.add(added[index]?.asBytes === true ? bytes : text);
        pieces.send(write);
        // They were only lent.
        bytes.fill(0);
        // Another stream uses the same memory meanwhile.
        const other = new Pieces();
        other.add('#'.repeat(pieceBytes));
        other.send(() => true);
      }
      const all = Buffer.from(texts.join(''));
      const waiting = all.length - Buffer.concat(sent).length;
      if (pieces.bytes !== waiting || (waiting > 0 && pieces.empty)) return false;
      while (!pieces.empty) pieces.send(write);
      return (
        Buffer.concat(sent).equals(all) &&
        sent.every((piece) => piece.length <= pieceBytes) &&
        pieces.bytes === 0
      );
    }),
    { numRuns: 150, endOnFailure: true },
  );
  t.pass('agreed');
});

t.test('the end of a borrowed chunk that was not written', async (t) => {
  const pieces = new Pieces();
  const sent: string[] = [];
  pieces.add('x'.repeat(pieceBytes + 10));
  pieces.send((piece) => {
    sent.push(piece.toString('latin1', 0, 60_000));
    pieces.putBack(piece.subarray(60_000));
    return false;
  });
  t.equal(pieces.bytes, pieceBytes + 10 - 60_000);
  pieces.send((piece) => sent.push(piece.toString('latin1')) > 0);
  t.equal(sent.join(''), 'x'.repeat(pieceBytes + 10));
});
