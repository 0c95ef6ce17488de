/** The contract suite of Allowances adapters. `open` returns replicas that share counters and a clock. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { firstValueFrom, Observable } from 'rxjs';
import type { Test } from 'tap';
import {
  type Allowance,
  type Allowances,
  type Claim,
  Exhausted,
  type Reservation,
  type ReserveOptions,
  type Span,
} from '../../src/ports/allowances.ts';
import type { VirtualClock } from '../admission/virtual-clock.ts';
import { ModelAllowances } from './allowances-model.ts';

export interface AllowancesSubject {
  /** Two of them, or twice the same. */
  readonly replicas: readonly [Allowances, Allowances];
  readonly clock: VirtualClock;
  close(): Promise<void>;
}

/** `spent` is what the ledger has, by the name of the period. */
export type OpenAllowances = (
  spent?: (allowance: Allowance) => Promise<number>,
) => Promise<AllowancesSubject>;

const minute = 60_000;
const day = 86_400_000;

export const held = (name: string, limit: number): Allowance => ({ name, limit, span: { kind: 'held' } });
export const perMinute = (name: string, limit: number): Allowance => ({
  name,
  limit,
  span: { kind: 'window', ms: minute },
});
export const period = (name: string, limit: number, end?: number): Allowance => ({
  name,
  limit,
  span: { kind: 'period', start: 0, end },
});

export const reserved = async (
  allowances: Allowances,
  id: string,
  claims: readonly Claim[],
  options?: ReserveOptions,
): Promise<Reservation> => {
  const outcome = allowances.reserve(id, claims, options);
  return outcome instanceof Observable ? firstValueFrom(outcome) : outcome;
};

export const allowancesContract = async (t: Test, open: OpenAllowances, runs = 100): Promise<void> => {
  const harness = async (t: Test, spent?: (allowance: Allowance) => Promise<number>) => {
    const { replicas, clock, close } = await open(spent);
    t.teardown(close);
    let count = 0;
    const settled = async () => {
      for (const replica of replicas) await replica.check();
    };
    /** The reservation, or what was refused and why; replicas take turns. */
    const reserve = async (...claims: readonly (readonly [Allowance, number])[]) => {
      const replica = replicas[count % 2 === 0 ? 0 : 1];
      const asked = claims.map(([allowance, amount]) => ({ allowance, amount }));
      try {
        return await reserved(replica, `req_${++count}`, asked);
      } catch (error) {
        if (!(error instanceof Exhausted)) throw error;
        const { left, retryMs, claim } = error;
        return { name: claim.allowance.name, left, retryMs };
      }
    };
    const granted = async (...claims: readonly (readonly [Allowance, number])[]): Promise<Reservation> => {
      const reservation = await reserve(...claims);
      assert('settle' in reservation, `refused: ${JSON.stringify(reservation)}`);
      return reservation;
    };
    const used = async (...allowances: readonly Allowance[]) => {
      await settled();
      const all = await replicas[1].used(allowances);
      return all.map(({ used, reserved }) => [used, reserved]);
    };
    const pass = (ms: number) => clock.advance(ms, settled);
    return { replicas, clock, reserve, granted, used, pass, settled };
  };

  t.test('what is held counts until it is settled', async (t) => {
    const { reserve, granted, used } = await harness(t);
    const two = held('key_1 requests', 2);
    const [first] = [await granted([two, 1]), await granted([two, 1])];
    t.strictSame(await reserve([two, 1]), { name: two.name, left: 0, retryMs: undefined });
    first?.settle([1]);
    t.strictSame(await used(two), [[1, 1]], 'nothing of it is left');
    await granted([two, 1]);
    t.strictSame(await used(two, held('other', 1)), [
      [2, 2],
      [0, 0],
    ]);
  });

  t.test('a reservation says what it left of each', async (t) => {
    const { granted } = await harness(t);
    const [tokens, two] = [perMinute('tokens', 100), held('key_1 requests', 2)];
    const first = await granted([tokens, 60], [two, 1]);
    t.strictSame([first.left(0), first.left(1), first.left(2)], [40, 1, undefined]);
    const second = await granted([two, 1], [tokens, 10]);
    t.strictSame([second.left(0), second.left(1)], [0, 30]);
    const both = await granted([perMinute('other', 10), 3], [perMinute('other', 10), 4]);
    t.equal(both.left(1), 3, 'two claims on one add up');
  });

  t.test('a window counts from the reservation on, to the millisecond', async (t) => {
    const { reserve, granted, used, pass } = await harness(t);
    const tokens = perMinute('tokens', 100);
    await granted([tokens, 60]);
    await pass(10_000);
    await granted([tokens, 40]);
    t.strictSame(await reserve([tokens, 1]), { name: 'tokens', left: 0, retryMs: 50_000 });
    t.strictSame(
      await reserve([tokens, 61]),
      { name: 'tokens', left: 0, retryMs: 60_000 },
      'both have to go',
    );
    await pass(49_999);
    t.strictSame(await reserve([tokens, 60]), { name: 'tokens', left: 0, retryMs: 1 });
    await pass(1);
    t.strictSame(await used(tokens), [[40, 40]]);
    await granted([tokens, 60]);
    await pass(10_000);
    t.strictSame(await used(tokens), [[60, 60]]);
  });

  t.test('a settlement takes the place of the estimate, and is no newer', async (t) => {
    const { reserve, granted, used, pass } = await harness(t);
    const tokens = perMinute('tokens', 100);
    const less = await granted([tokens, 80]);
    await pass(20_000);
    less.settle([10]);
    t.strictSame(await used(tokens), [[10, 0]]);
    const more = await granted([tokens, 20]);
    await pass(10_000);
    more.settle([95]);
    t.strictSame(await used(tokens), [[105, 0]], 'what was used counts, whatever the limit');
    t.strictSame(await reserve([tokens, 5]), { name: 'tokens', left: 0, retryMs: 30_000 });
    await pass(30_000);
    t.strictSame(await used(tokens), [[95, 0]]);
    await granted([tokens, 5]);
    const late = await granted([perMinute('other', 10), 7]);
    await pass(minute);
    late.settle([9]);
    t.strictSame(await used(perMinute('other', 10)), [[0, 0]], 'one that no longer counts stays out');
  });

  t.test('all claims are reserved, or none', async (t) => {
    const { clock, reserve, granted, used } = await harness(t);
    const key = held('key', 5);
    const tokens = perMinute('tokens', 100);
    const budget = period('budget', 1000, clock.now() + day);
    await granted([key, 1], [tokens, 50], [budget, 600]);
    t.match(await reserve([key, 1], [tokens, 10], [budget, 401]), { name: 'budget', left: 400 });
    t.match(await reserve([key, 1], [tokens, 51], [budget, 10]), { name: 'tokens', left: 50 });
    t.strictSame(await used(key, tokens, budget), [
      [1, 1],
      [50, 50],
      [600, 600],
    ]);
    const all = await granted([key, 1], [tokens, 50], [budget, 400]);
    all.settle([1, 20, 123]);
    t.strictSame(await used(key, tokens, budget), [
      [1, 1],
      [70, 50],
      [723, 600],
    ]);
  });

  t.test('two claims on one allowance add up', async (t) => {
    const { reserve, granted, used } = await harness(t);
    const tokens = perMinute('tokens', 100);
    t.match(await reserve([tokens, 60], [tokens, 41]), { name: 'tokens', left: 100 });
    const both = await granted([tokens, 60], [tokens, 40]);
    both.settle([1, 2]);
    t.strictSame(await used(tokens), [[3, 0]]);
  });

  t.test('only the first settlement counts', async (t) => {
    const { granted, used } = await harness(t);
    const [key, tokens, total] = [held('key', 2), perMinute('tokens', 100), period('total', 1000)];
    const reservation = await granted([key, 1], [tokens, 50], [total, 500]);
    reservation.settle([1, 20, 30]);
    reservation.settle([1, 40, 50]);
    t.strictSame(await used(key, tokens, total), [
      [0, 0],
      [20, 0],
      [30, 0],
    ]);
  });

  t.test('a refusal says what is left and when it fits', async (t) => {
    const { clock, reserve, granted } = await harness(t);
    const budget = period('budget', 1000, clock.now() + day);
    const total = period('total', 1000);
    await granted([budget, 900], [total, 900]);
    t.strictSame(await reserve([budget, 101]), { name: 'budget', left: 100, retryMs: day });
    t.strictSame(await reserve([total, 101]), { name: 'total', left: 100, retryMs: undefined });
    t.strictSame(await reserve([budget, 1001]), { name: 'budget', left: 100, retryMs: undefined }, 'never');
    t.strictSame(await reserve([perMinute('tokens', 10), 11]), {
      name: 'tokens',
      left: 10,
      retryMs: undefined,
    });
  });

  t.test('each request is judged by its own limit', async (t) => {
    const { reserve, granted } = await harness(t);
    const tokens = (limit: number) => perMinute('tokens', limit);
    await granted([tokens(100), 80]);
    t.match(await reserve([tokens(50), 1]), { left: 0, retryMs: minute }, 'lowered');
    await granted([tokens(50), 0]);
    await granted([tokens(200), 120]);
    t.match(await reserve([tokens(200), 1]), { left: 0 }, 'raised');
  });

  t.test('a period begins with what the ledger has, read once; so does the next one', async (t) => {
    const spent: Record<string, number> = { 'budget 1': 300, 'budget 2': 0 };
    let reads = 0;
    const { clock, reserve, granted, used, pass } = await harness(t, async ({ name }) => {
      reads++;
      return spent[name] ?? 0;
    });
    const first = period('budget 1', 1000, clock.now() + day);
    t.match(await reserve([first, 701]), { left: 700, retryMs: day });
    const late = await granted([first, 700]);
    t.equal(reads, 1);
    await pass(day);
    const second = period('budget 2', 1000, clock.now() + day);
    await granted([second, 1000]);
    t.equal(reads, 2);
    late.settle([650]);
    t.strictSame(await used(second), [[1000, 1000]], 'what is settled late belongs to its own period');
  });

  t.test('a ledger that does not respond is a 503, and asked again', async (t) => {
    let down = true;
    const { reserve, granted, used } = await harness(t, async () => {
      if (down) throw new Error('the ledger is away');
      return 5;
    });
    const total = period('total', 10);
    const notKnown = { kind: 'unavailable', message: 'What was used so far is not known at the moment' };
    await t.rejects(reserve([total, 1]), notKnown);
    await t.rejects(used(total), notKnown);
    down = false;
    await granted([total, 5]);
    t.strictSame(await used(total), [[10, 5]]);
  });

  t.test('amounts are exact up to nine million dollars in nanodollars', async (t) => {
    const { reserve, granted, used } = await harness(t);
    const total = period('total', 9_000_000_000_000_000);
    const most = await granted([total, 8_999_999_999_999_999]);
    await granted([total, 1]);
    t.strictSame(await reserve([total, 1]), { name: 'total', left: 0, retryMs: undefined });
    most.settle([8_999_999_999_999_998]);
    t.strictSame(await used(total), [[8_999_999_999_999_999, 1]]);
    await granted([total, 1]);
    t.match(await reserve([total, 1]), { left: 0 });
  });

  t.test('names may be anything', async (t) => {
    const { granted, used } = await harness(t);
    const names = ['a', 'a:', ':a', 'a b', '{a}', 'a\n', '模型', '#2', 'total'];
    for (const name of names) await granted([perMinute(`w${name}`, 1), 1], [held(`h${name}`, 1), 1]);
    t.strictSame(
      await used(...names.map((name) => perMinute(`w${name}`, 1))),
      Array(names.length).fill([1, 1]),
    );
  });

  t.test('a lasting reservation is settled by its id, in another process, once', async (t) => {
    const { replicas, clock, used } = await harness(t);
    const [one, other] = replicas;
    const budget = period('budget', 1000, clock.now() + day);
    const claims = [{ allowance: budget, amount: 700 }];
    await reserved(one, 'req_job', claims, { lasting: true });
    await reserved(other, 'req_job', claims, { lasting: true, again: true });
    t.strictSame(await used(budget), [[700, 700]], 'the second time changes nothing');
    await other.settle({ id: 'req_job', cost: 123 }, ['budget']);
    await one.settle({ id: 'req_job', cost: 456 }, ['budget']);
    await one.settle({ id: 'req_unknown', cost: 456 }, ['budget']);
    t.strictSame(await used(budget), [[123, 0]]);
    await reserved(one, 'req_other', [{ allowance: budget, amount: 2000 }], { lasting: true, again: true });
    t.strictSame(await used(budget), [[2123, 2000]], 'one from before a restart, whatever is left');
  });

  t.test('any history agrees with the model', async (t) => {
    const { replicas, clock, close } = await open();
    t.teardown(close);
    let histories = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) =>
      replay(steps, replicas, clock, `h${++histories}`),
    );
    await fc.assert(property, { numRuns: runs });
  });
};

type Step =
  | { readonly do: 'reserve'; readonly replica: 0 | 1; readonly claims: readonly ClaimStep[] }
  | { readonly do: 'settle'; readonly which: number; readonly used: readonly number[] }
  | { readonly do: 'pass'; readonly ms: number };

interface ClaimStep {
  readonly which: number;
  readonly limit: number;
  readonly amount: number;
}

const spans: readonly Span[] = [
  { kind: 'held' },
  { kind: 'window', ms: minute },
  { kind: 'window', ms: 10_000 },
  { kind: 'period', start: 0, end: 1e12 },
  { kind: 'period', start: 0, end: undefined },
];

const claimStep: fc.Arbitrary<ClaimStep> = fc.record({
  which: fc.nat(spans.length - 1),
  limit: fc.oneof({ weight: 6, arbitrary: fc.constant(100) }, fc.constantFrom(50, 150, 20)),
  amount: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 40 }) }, fc.constantFrom(0, 100, 101)),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('reserve'),
      replica: fc.constantFrom(0, 1),
      claims: fc.uniqueArray(claimStep, { minLength: 1, maxLength: 4, selector: ({ which }) => which }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle'),
      which: fc.nat(5),
      used: fc.array(fc.nat(60), { minLength: 4, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass'),
      ms: fc.constantFrom(1, 999, 5_000, 9_999, 10_000, 29_999, 59_999, minute),
    }),
  },
);

/** Runs a history against the adapter and the model, comparing outcomes and sums after each step. */
const replay = async (
  steps: readonly Step[],
  replicas: readonly [Allowances, Allowances],
  clock: VirtualClock,
  history: string,
): Promise<void> => {
  const model = new ModelAllowances();
  const reservations = new Map<string, Reservation>();
  const allowances = spans.map((span, index): Allowance => ({ name: `${history} ${index}`, limit: 0, span }));
  const settled = async () => {
    for (const replica of replicas) await replica.check();
  };

  const attempt = async (id: string, each: Step & { do: 'reserve' }): Promise<void> => {
    const claims = each.claims.map(
      ({ which, limit, amount }): Claim => ({
        allowance: { ...(allowances[which] as Allowance), limit },
        amount,
      }),
    );
    const expected = model.reserve(id, claims, clock.now());
    const actual = await reserved(replicas[each.replica], id, claims).catch((error: unknown) => error);
    if (expected === undefined) {
      assert(!(actual instanceof Error), `${id} was refused: ${String(actual)}`);
      reservations.set(id, actual as Reservation);
      return;
    }
    assert(
      actual instanceof Exhausted,
      `${id} was not refused: ${JSON.stringify(expected)} ${String(actual)}`,
    );
    const { left, retryMs, claim } = actual;
    assert.deepEqual({ name: claim.allowance.name, left, retryMs }, expected);
  };

  for (const [index, each] of steps.entries()) {
    if (each.do === 'reserve') await attempt(`${history}-${index}`, each);
    else if (each.do === 'pass') await clock.advance(each.ms, settled);
    else {
      const id = model.open[each.which];
      if (id === undefined) continue;
      reservations.get(id)?.settle(each.used);
      model.settle(id, each.used);
    }
    await settled();
    const actual = await replicas[0].used(allowances);
    const expected = allowances.map(({ name }) => ({
      used: model.used(name, clock.now()),
      reserved: model.reserved(name, clock.now()),
    }));
    assert.deepEqual(actual, expected, `after step ${index}: ${JSON.stringify(each)}`);
  }
  for (const [id, reservation] of reservations) reservation.settle(model.amounts(id).map(() => 0));
  await settled();
};
