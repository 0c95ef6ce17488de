/** Tests that pending reads are copied out of borrowed buffers and returned in order. */
import * as fc from 'fast-check';
import t from 'tap';
import { PendingReads } from '../../src/engines/http1/pending-reads.ts';

const sizes = fc.constantFrom(1, 700, 16 * 1024 - 1, 16 * 1024, 40_000, 64 * 1024, 64 * 1024 + 1);
const step = fc.oneof(
  fc.record({ add: sizes, line: fc.nat({ max: 2 }) }),
  fc.record({ pass: fc.constant(true), line: fc.nat({ max: 2 }) }),
  fc.record({ clear: fc.constant(true), line: fc.nat({ max: 2 }) }),
);

t.test('several lines at once', async (t) => {
  const memory = Buffer.alloc(64 * 1024 + 1);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const lines = [new PendingReads(), new PendingReads(), new PendingReads()];
      const expected: Buffer[] = [Buffer.alloc(0), Buffer.alloc(0), Buffer.alloc(0)];
      let fill = 0;
      for (const each of steps) {
        const held = lines[each.line];
        const waiting = expected[each.line];
        if (held === undefined || waiting === undefined) continue;
        if ('add' in each) {
          fill = (fill + 1) % 256;
          held.add(memory.subarray(0, each.add).fill(fill));
          expected[each.line] = Buffer.concat([waiting, Buffer.alloc(each.add, fill)]);
          memory.fill(0);
        } else if ('pass' in each) {
          // Small reads come together: how many do is of no interest.
          const seen: Buffer[] = [];
          held.pass((bytes) => seen.push(Buffer.from(bytes)));
          const [bytes] = seen;
          if (seen.length !== (waiting.length === 0 ? 0 : 1) || bytes?.length === 0) return false;
          if (bytes !== undefined && !bytes.equals(waiting.subarray(0, bytes.length))) return false;
          expected[each.line] = waiting.subarray(bytes?.length ?? 0);
        } else {
          held.clear();
          expected[each.line] = Buffer.alloc(0);
        }
        if (held.bytes !== expected[each.line]?.length) return false;
      }
      return true;
    }),
    { numRuns: 200, endOnFailure: true },
  );
  t.pass('agreed');
});

t.test('as text', async (t) => {
  const held = new PendingReads();
  held.add(Buffer.from('{"error":"w'));
  held.add(Buffer.from('ässer"}'));
  t.equal(held.text(100), '{"error":"wässer"}');
  t.equal(held.text(3), '{"e');
  held.clear();
  t.equal(held.text(100), '');
});

t.test('a reader that unsubscribes while it reads', async (t) => {
  const held = new PendingReads();
  held.add(Buffer.alloc(20_000, 1));
  held.add(Buffer.alloc(20_000, 2));
  held.pass((bytes) => {
    held.clear();
    const other = new PendingReads();
    other.add(Buffer.alloc(20_000, 3));
    other.add(Buffer.alloc(20_000, 4));
    t.equal(bytes[19_999], 1, 'what it reads stays until it has read it');
  });
  t.equal(held.bytes, 0);
});
