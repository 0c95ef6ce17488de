/** Tests Queue against a Set. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { Queue, type Queued } from '../../src/helpers/queue.ts';

interface Member extends Queued<Member> {
  readonly name: number;
}

t.test('any history of arrivals and departures agrees with a Set', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(5)), { maxLength: 60 }), (history) => {
      const members: Member[] = Array.from({ length: 6 }, (_, name) => ({ name }));
      const queue = new Queue<Member>();
      const set = new Set<Member>();
      for (const [comes, name] of history) {
        const each = members[name] as Member;
        if (!comes) assert.equal(queue.delete(each), set.delete(each));
        else if (!set.has(each)) {
          queue.add(each);
          set.add(each);
        }
        assert.deepEqual([...queue], [...set]);
        assert.equal(queue.size, set.size);
        assert.equal(queue.first, [...set][0]);
        assert.equal(queue.last, [...set].at(-1));
      }
    }),
    { numRuns: 200 },
  );
});

t.test('one that has left refers to nobody', async (t) => {
  const queue = new Queue<Member>();
  const [first, second, third] = [0, 1, 2].map((name): Member => ({ name })) as [Member, Member, Member];
  for (const each of [first, second, third]) queue.add(each);
  const { place } = second;
  queue.delete(second);
  t.strictSame(place, { previous: undefined, next: undefined });
  t.strictSame([...queue], [first, third]);
});
