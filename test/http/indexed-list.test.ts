/** A roll: what comes and goes, like a Set of it. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { absent, Roll } from '../../src/indexed-list.ts';

const members = Array.from({ length: 6 }, (_, name) => ({ name, place: absent }));
const member = fc.constantFrom(...members);

t.test('any history of arrivals and departures leaves whom a Set would have', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), member), { maxLength: 60 }), (history) => {
      for (const each of members) each.place = absent;
      const roll = new Roll<(typeof members)[number]>();
      const set = new Set<(typeof members)[number]>();
      for (const [comes, each] of history) {
        if (comes) {
          roll.add(each);
          set.add(each);
        } else {
          roll.delete(each);
          set.delete(each);
        }
        assert.equal(roll.size, set.size);
      }
      assert.deepEqual(new Set(roll), set);
    }),
    { numRuns: 50 },
  );
});

t.test('those visited may leave, and others with them; nobody is left out', async (t) => {
  const roll = new Roll<(typeof members)[number]>();
  for (const each of members) each.place = absent;
  for (const each of members) roll.add(each);
  const seen = new Set<number>();
  for (const each of roll) {
    seen.add(each.name);
    roll.delete(each);
    if (each.name === 4) for (const other of members.slice(0, 2)) roll.delete(other);
  }
  t.strictSame([...seen].sort(), [2, 3, 4, 5], 'but for those who had left by then');
  t.equal(roll.size, 0);
});
