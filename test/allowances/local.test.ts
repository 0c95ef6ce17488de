/** Tests allowances within one process: the contract, that decisions are synchronous, and memory bounds. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Observable } from 'rxjs';
import t from 'tap';
import { AmountWindow } from '../../src/adapters/allowances/amount-window.ts';
import { LocalAllowances } from '../../src/adapters/allowances/local.ts';
import { VirtualClock } from '../admission/virtual-clock.ts';
import { allowancesContract, held, period, perMinute, reserved } from '../contracts/allowances.ts';

t.test('contract', async (t) => {
  await allowancesContract(
    t,
    async (spent = async () => 0) => {
      const clock = new VirtualClock();
      const allowances = new LocalAllowances({ spent, clock, wallClock: () => clock.now() });
      return { replicas: [allowances, allowances], clock, close: () => allowances.close() };
    },
    200,
  );
});

t.test('a decision is synchronous once it is known what was spent', async (t) => {
  const allowances = new LocalAllowances({ spent: async () => 10 });
  t.teardown(() => allowances.close());
  const claims = [
    { allowance: held('key', 2), amount: 1 },
    { allowance: perMinute('tokens', 100), amount: 60 },
    { allowance: period('total', 100), amount: 40 },
  ];
  const first = allowances.reserve('req_1', claims);
  assert(first instanceof Observable);
  t.strictSame(await allowances.used([held('key', 2)]), [{ used: 0, reserved: 0 }], 'not before subscribing');
  const reservation = await reserved(allowances, 'req_1', claims);
  reservation.settle([1, 10, 50]);
  const second = allowances.reserve('req_2', claims);
  t.notOk(second instanceof Observable);
  t.throws(() => allowances.reserve('req_3', claims), {
    message: 'tokens has 30 of 100 left, 60 were claimed',
  });
});

t.test(
  'requests that come while the ledger is read share one look; one that leaves takes nothing',
  async (t) => {
    let tell = (_: number): void => undefined;
    let reads = 0;
    const allowances = new LocalAllowances({
      spent: () =>
        new Promise((resolve) => {
          reads++;
          tell = resolve;
        }),
    });
    t.teardown(() => allowances.close());
    const total = period('total', 100);
    const claims = [{ allowance: total, amount: 30 }];
    const kept = reserved(allowances, 'req_1', claims);
    const gone = allowances.reserve('req_2', claims);
    assert(gone instanceof Observable);
    gone.subscribe(() => t.fail('it has left')).unsubscribe();
    tell(7);
    await kept;
    t.equal(reads, 1);
    t.strictSame(await allowances.used([total]), [{ used: 37, reserved: 30 }]);
  },
);

t.test('counters are dropped when idle, and periods read again', async (t) => {
  const clock = new VirtualClock();
  let reads = 0;
  const spent = async () => {
    reads++;
    return 0;
  };
  const allowances = new LocalAllowances({ spent, clock, wallClock: () => clock.now() });
  t.teardown(() => allowances.close());
  const day = 86_400_000;
  const claims = [
    { allowance: held('key', 10), amount: 1 },
    { allowance: perMinute('tokens', 10), amount: 1 },
    { allowance: period('today', 10, clock.now() + day), amount: 1 },
    { allowance: period('total', 10), amount: 1 },
  ];
  const running = await reserved(allowances, 'req_1', claims);
  (await reserved(allowances, 'req_2', claims)).settle([1, 1, 1, 1]);
  await clock.advance(59_999);
  t.equal(allowances.size, 4);
  await clock.advance(2_000);
  t.equal(allowances.size, 3, 'the window is empty');
  await clock.advance(day);
  t.equal(allowances.size, 3, 'what is reserved stays');
  running.settle([1, 1, 1, 1]);
  await clock.advance(2_000);
  t.equal(allowances.size, 0);
  t.equal(reads, 2);
  await reserved(allowances, 'req_3', claims.slice(3));
  t.equal(reads, 3);
});

t.test('refusals leave nothing behind', async (t) => {
  const allowances = new LocalAllowances({ spent: 0, clock: new VirtualClock() });
  t.teardown(() => allowances.close());
  const room = perMinute('room', 1e6);
  const claims = [room, perMinute('full', 0)].map((allowance) => ({ allowance, amount: 1 }));
  for (let index = 0; index < 1000; index++) t.throws(() => allowances.reserve(`req_${index}`, claims));
  t.strictSame(await allowances.used([room]), [{ used: 0, reserved: 0 }]);
});

t.test('a window of amounts equals a plain list', async () => {
  const step = fc.record({
    pass: fc.nat(30),
    amounts: fc.array(fc.nat(9), { maxLength: 20 }),
    settle: fc.nat(30),
    most: fc.nat(60),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const window = new AmountWindow(100);
      const list: { at: number; amount: number; open: boolean; number: number }[] = [];
      let now = 0;
      for (const { pass, amounts, settle, most } of steps) {
        now += pass;
        for (const amount of amounts) {
          window.total(now);
          list.push({ at: now, amount, open: true, number: window.add(amount, now) });
        }
        const chosen = list.at(-1 - settle);
        if (chosen !== undefined) {
          window.settle(chosen.number, settle);
          chosen.amount = settle;
          chosen.open = false;
        }
        const at = (time: number) => list.filter((each) => each.at > time - 100);
        const sum = (some: readonly { amount: number }[]) =>
          some.reduce((all, { amount }) => all + amount, 0);
        assert.equal(window.total(now), sum(at(now)));
        assert.equal(window.reserved, sum(at(now).filter(({ open }) => open)));
        const ends = at(now).map((each) => each.at + 100);
        const fits = sum(at(now)) <= most ? now : ends.find((end) => sum(at(end)) <= most);
        assert.equal(window.waitFor(most, now), (fits ?? now) - now);
      }
    }),
  );
});
