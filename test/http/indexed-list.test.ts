/** Tests IndexedList against a Set. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { IndexedList, unindexed } from '../../src/helpers/indexed-list.ts';

const members = Array.from({ length: 6 }, (_, name) => ({ name, slot: unindexed }));
const member = fc.constantFrom(...members);

t.test('any history of additions and removals agrees with a Set', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), member), { maxLength: 60 }), (history) => {
      for (const each of members) each.slot = unindexed;
      const list = new IndexedList<(typeof members)[number]>();
      const set = new Set<(typeof members)[number]>();
      for (const [comes, each] of history) {
        if (comes) {
          list.add(each);
          set.add(each);
        } else {
          list.delete(each);
          set.delete(each);
        }
        assert.equal(list.size, set.size);
      }
      assert.deepEqual(new Set(list), set);
    }),
    { numRuns: 50 },
  );
});

t.test('entries may be removed during iteration, and none is skipped', async (t) => {
  const list = new IndexedList<(typeof members)[number]>();
  for (const each of members) each.slot = unindexed;
  for (const each of members) list.add(each);
  const seen = new Set<number>();
  for (const each of list) {
    seen.add(each.name);
    list.delete(each);
    if (each.name === 4) for (const other of members.slice(0, 2)) list.delete(other);
  }
  t.strictSame([...seen].sort(), [2, 3, 4, 5], 'but for those who had left by then');
  t.equal(list.size, 0);
});
