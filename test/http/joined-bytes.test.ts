/** Tests that joined pieces are the bytes that were added, and that small ones take little memory. */
import * as fc from 'fast-check';
import { concat, from, lastValueFrom, of } from 'rxjs';
import t from 'tap';
import { JoinedBytes, joinBytes } from '../../src/helpers/joined-bytes.ts';
import { orLong, someOf } from '../long.ts';
import { memoryInUse } from '../memory-in-use.ts';

const sizes = fc.constantFrom(0, 1, 2, 100, 4095, 4096, 5000, 70_000, 300_000);
const step = fc.oneof(
  { arbitrary: fc.record({ add: sizes, owned: fc.boolean() }), weight: 6 },
  { arbitrary: fc.record({ append: sizes }), weight: 1 },
  { arbitrary: fc.constant({ shift: true }), weight: 2 },
  { arbitrary: fc.constant({ take: true }), weight: 1 },
);

t.test('any pieces, taken in any way', async (t) => {
  const lent = Buffer.alloc(300_000);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      const joined = new JoinedBytes();
      let expected = Buffer.alloc(0);
      let fill = 0;
      for (const each of steps) {
        fill = (fill + 1) % 251;
        if ('add' in each) {
          const piece = each.owned ? Buffer.alloc(each.add) : lent.subarray(0, each.add);
          joined.add(piece.fill(fill), each.owned);
          expected = Buffer.concat([expected, piece]);
          // The next read overwrites what was borrowed.
          if (!each.owned) piece.fill(255);
        } else if ('append' in each) {
          if (each.append === 0) continue;
          joined.append(Buffer.alloc(each.append, fill));
          expected = Buffer.concat([expected, Buffer.alloc(each.append, fill)]);
        } else if ('shift' in each) {
          const first = joined.shift();
          if ((first === undefined) !== (expected.length === 0)) return false;
          if (first !== undefined && !first.equals(expected.subarray(0, first.length))) return false;
          expected = expected.subarray(first?.length ?? 0);
        } else {
          if (!joined.take().equals(expected)) return false;
          expected = Buffer.alloc(0);
        }
        if (joined.length !== expected.length) return false;
      }
      return joined.take().equals(expected) && joined.length === 0;
    }),
    { numRuns: 300, endOnFailure: true },
  );
  t.pass('agreed');
});

t.test('what was shifted stays as it is while more is added', async (t) => {
  const joined = new JoinedBytes();
  for (const text of ['a', 'b', 'c']) joined.add(Buffer.from(text));
  const taken = [joined.shift(), joined.shift()];
  for (let at = 0; at < 10_000; at++) joined.add(Buffer.from('x'));
  t.same(taken.map(String), ['a', 'bc']);
});

t.test('memory per byte', async (t) => {
  const total = orLong(1, 4) * 1024 * 1024;
  const grown = async (size: number, owned: boolean): Promise<number> => {
    const before = await memoryInUse();
    const joined = new JoinedBytes();
    for (let sent = 0; sent < total; ) {
      // Pieces are parts of a read, as both HTTP servers hand them over.
      const read = Buffer.alloc(65_536, 7);
      for (let at = 0; at + size <= read.length && sent < total; at += size, sent += size)
        joined.add(read.subarray(at, at + size), owned);
    }
    const after = await memoryInUse();
    t.ok(joined.length >= total);
    return (after - before) / total;
  };
  const kinds = [
    [1, false],
    [1, true],
    [16, false],
    [4096, true],
    [5000, false],
  ] as const;
  for (const [size, owned] of someOf(kinds, 1)) {
    const factor = await grown(size, owned);
    t.ok(factor < 1.5, `a byte in pieces of ${size} takes ${factor.toFixed(2)}`);
  }
});

t.test('a stream as one buffer', async (t) => {
  const pieces = ['a', '', 'bc', 'd'.repeat(10_000)].map((text) => Buffer.from(text));
  t.same(await lastValueFrom(from(pieces).pipe(joinBytes)), Buffer.concat(pieces));
  t.same(await lastValueFrom(from<Buffer[]>([]).pipe(joinBytes)), Buffer.alloc(0));
  const twice = of(Buffer.from('once')).pipe(joinBytes);
  t.same(await lastValueFrom(concat(twice, twice)), Buffer.from('once'), 'subscriptions share nothing');
});
