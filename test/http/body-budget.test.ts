/** Tests the memory budget of request bodies: fairness, refusals, and that nothing is lost or granted twice. */
import * as fc from 'fast-check';
import t from 'tap';
import { BodyBudget, BodyClaim } from '../../src/http/body-budget.ts';

/** Names of claims in the order in which they were granted after waiting. */
const claims = (granted: string[]) => (name: string) =>
  new BodyClaim(name.replace(/\d+$/, ''), () => granted.push(name));

t.test('a subscription waits for its own memory, others do not', async (t) => {
  const granted: string[] = [];
  const claim = claims(granted);
  const budget = new BodyBudget(100, 40);
  const [a1, a2, a3, b1] = [claim('a1'), claim('a2'), claim('a3'), claim('b1')];
  t.equal(budget.take(a1, 30), true);
  t.equal(budget.take(a2, 20), false);
  t.equal(budget.take(a3, 5), false, 'it would fit, but another came first');
  t.equal(budget.take(b1, 40), true);
  t.match(budget, { unadmitted: 70, all: 70, waiting: 2, waits: 2 });
  budget.release(a1);
  t.same(granted, ['a2', 'a3']);
  t.match(budget, { unadmitted: 65, waiting: 0 });
  budget.release(a1);
  t.equal(budget.unadmitted, 65, 'twice is once');
});

t.test('memory that becomes free goes round', async (t) => {
  const granted: string[] = [];
  const claim = claims(granted);
  const budget = new BodyBudget(40, 40);
  const first = claim('x');
  budget.take(first, 40);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) budget.take(claim(name), 10);
  budget.release(first);
  t.same(granted, ['a1', 'b1', 'c1', 'a2']);
});

t.test('admitted bodies make room, up to four times as much', async (t) => {
  const claim = claims([]);
  const budget = new BodyBudget(40, 20);
  for (let count = 0; count < 4; count++) {
    const admitted = claim('a');
    t.equal(budget.take(admitted, 20), true);
    budget.admit(admitted);
    budget.admit(admitted);
  }
  t.match(budget, { unadmitted: 0, all: 80 });
  const late = claim('a');
  t.equal(budget.take(late, 10), false);
  budget.refuse(late);
  t.equal(late.refused, 'subscription');
  const early = claim('b');
  early.admitted = true;
  t.equal(budget.take(early, 70), true, 'admitted before it is read');
  const other = claim('c');
  t.equal(budget.take(other, 20), false);
  budget.refuse(other);
  t.equal(other.refused, 'total');
  t.match(budget, { all: 150, waiting: 0, refusals: { subscription: 1, total: 1 } });
});

t.test('as many may wait as have little in memory', async (t) => {
  const claim = claims([]);
  const budget = new BodyBudget(10, 10);
  budget.take(claim('x'), 10);
  const all = Array.from({ length: 300 }, (_, at) => claim(`${'abcdefghi'[at % 9]}`));
  for (const each of all) budget.take(each, 10);
  t.equal(budget.waiting, 256);
  t.same(budget.refusals, { subscription: 0, total: 44 });
  const own = new BodyBudget(10, 10);
  own.take(claim('x'), 10);
  const many = Array.from({ length: 33 }, () => claim('a'));
  for (const each of many) own.take(each, 10);
  t.equal(many[32]?.refused, 'subscription');
  t.equal(own.waiting, 32);
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
      const all = Array.from({ length: 12 }, (_, at) => new BodyClaim(`s${at % 4}`, () => {}));
      for (const { what, at, bytes } of steps) {
        const claim = all[at];
        if (claim === undefined) continue;
        if (what === 'take' && claim.wanted === 0) budget.take(claim, bytes);
        else if (what === 'admit') budget.admit(claim);
        else if (what === 'release') budget.release(claim);
        else if (what === 'refuse' && claim.wanted > 0) budget.refuse(claim);
        const sum = (some: readonly BodyClaim[]) => some.reduce((total, { held }) => total + held, 0);
        const unadmitted = all.filter(({ admitted }) => !admitted);
        if (sum(all) !== budget.all || sum(unadmitted) !== budget.unadmitted) return false;
        if (budget.unadmitted > 100 || budget.all > 400) return false;
        if (all.filter(({ wanted }) => wanted > 0).length !== budget.waiting) return false;
        for (let share = 0; share < 4; share++)
          if (sum(unadmitted.filter(({ subscription }) => subscription === `s${share}`)) > 40) return false;
      }
      for (const claim of all) budget.release(claim);
      return budget.all === 0 && budget.unadmitted === 0 && budget.waiting === 0;
    }),
    { numRuns: 1000, endOnFailure: true },
  );
  t.pass('agreed');
});
