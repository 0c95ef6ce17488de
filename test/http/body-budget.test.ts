/** Tests the memory budget of request bodies: fairness, refusals, and that nothing is lost or granted twice. */
import * as fc from 'fast-check';
import t from 'tap';
import { BodyBudget, BodyClaim } from '../../src/http/body/budget.ts';

/** Claims of the subscription that their name begins with; `events` is what happens to them after they had to wait. */
const claims =
  (budget: BodyBudget, events: string[] = []) =>
  (name: string, admitted = false) =>
    new BodyClaim(budget, name.replace(/\d+$/, ''), admitted, {
      granted: () => events.push(name),
      refused: (scope) => events.push(`${name} ${scope}`),
    });

t.test('a subscription waits for its own memory, others do not', async (t) => {
  const events: string[] = [];
  const budget = new BodyBudget(100, 40);
  const claim = claims(budget, events);
  const [a1, a2, a3, b1] = [claim('a1'), claim('a2'), claim('a3'), claim('b1')];
  t.equal(budget.take(a1, 30), true);
  t.equal(budget.take(a2, 20), false);
  t.equal(budget.take(a3, 20), false);
  t.equal(budget.take(b1, 40), true);
  t.match(budget, { unadmitted: 70, admitted: 0, waiting: 2, waits: 2 });
  budget.release(a1);
  t.same(events, ['a2', 'a3']);
  t.match(budget, { unadmitted: 80, waiting: 0 });
  budget.release(a1);
  t.equal(budget.unadmitted, 80, 'twice is once');
});

t.test('memory that becomes free goes round', async (t) => {
  const events: string[] = [];
  const budget = new BodyBudget(40, 40);
  const claim = claims(budget, events);
  const first = claim('x');
  budget.take(first, 40);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) budget.take(claim(name), 10);
  budget.release(first);
  t.same(events, ['a1', 'b1', 'c1', 'a2']);
});

t.test('admitted bodies make room, up to four times as much', async (t) => {
  const events: string[] = [];
  const budget = new BodyBudget(40, 20);
  const claim = claims(budget, events);
  for (let count = 0; count < 4; count++) {
    const admitted = claim('a');
    t.equal(budget.take(admitted, 20), true);
    budget.admit(admitted);
    budget.admit(admitted);
  }
  t.match(budget, { unadmitted: 0, admitted: 80 });
  const late = claim('a5');
  t.equal(budget.take(late, 10), false);
  budget.refuse(late);
  t.equal(budget.take(claim('b', true), 70), true, 'admitted before it is read');
  const other = claim('c1');
  t.equal(budget.take(other, 20), false);
  budget.refuse(other);
  t.same(events, ['a5 subscription', 'c1 total']);
  t.match(budget, { admitted: 150, waiting: 0, refusals: { subscription: 1, total: 1 } });
});

t.test('few may wait, and none because of another subscription', async (t) => {
  const events: string[] = [];
  const budget = new BodyBudget(10, 10);
  const claim = claims(budget, events);
  budget.take(claim('x'), 10);
  for (let count = 1; count <= 200; count++) budget.take(claim(`a${count}`), 10);
  t.equal(budget.waiting, 128);
  t.equal(events.length, 72);
  t.equal(budget.take(claim('b1'), 10), false);
  t.equal(events.at(-1), 'a128 total', 'the newest of the subscription with most makes room');
  t.equal(budget.waiting, 128);
});

const step = fc.record({
  what: fc.constantFrom('take', 'take', 'take', 'admit', 'release', 'refuse'),
  at: fc.nat({ max: 11 }),
  bytes: fc.integer({ min: 1, max: 40 }),
});

t.test('whatever happens, sums are right and limits hold', async (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
      const budget = new BodyBudget(100, 40);
      const all = Array.from({ length: 12 }, (_, at) => claims(budget)(`${'abcd'[at % 4]}${at}`));
      for (const { what, at, bytes } of steps) {
        const claim = all[at];
        if (claim === undefined) continue;
        if (what === 'take' && claim.wanted === 0) budget.take(claim, bytes);
        else if (what === 'admit') budget.admit(claim);
        else if (what === 'release') budget.release(claim);
        else if (what === 'refuse' && claim.wanted > 0) budget.refuse(claim);
        const sum = (some: readonly BodyClaim[]) => some.reduce((total, { held }) => total + held, 0);
        const unadmitted = all.filter(({ admitted }) => !admitted);
        if (sum(all) !== budget.admitted + budget.unadmitted || sum(unadmitted) !== budget.unadmitted)
          return false;
        if (budget.unadmitted > 100 || budget.admitted + budget.unadmitted > 400) return false;
        if (all.filter(({ wanted }) => wanted > 0).length !== budget.waiting) return false;
        for (let share = 0; share < 4; share++)
          if (sum(unadmitted.filter(({ subscription }) => subscription === 'abcd'[share])) > 40) return false;
      }
      for (const claim of all) budget.release(claim);
      return budget.admitted === 0 && budget.unadmitted === 0 && budget.waiting === 0;
    }),
    { numRuns: 1000, endOnFailure: true },
  );
  t.pass('agreed');
});
