/** The contract suite of balancing policies. `open` makes one that knows nothing yet. */
import fc from 'fast-check';
import { pino } from 'pino';
import type { Test } from 'tap';
import type { Dispatch } from '../../src/engines/pool/dispatch.ts';
import type { Policy, RoutedCall } from '../../src/engines/pool/policies/policy.ts';
import { ReplicaPool } from '../../src/engines/pool/pool.ts';
import { Replica } from '../../src/engines/pool/replica.ts';
import { sampleCall } from '../samples.ts';

const idleDispatch = { close: () => Promise.resolve() } as Dispatch;
const silent = pino({ level: 'silent' });

export const replica = (name: string, weight = 1): Replica => {
  const made = new Replica(`http://${name}/v1`, idleDispatch);
  made.share.weight = weight;
  return made;
};

export const replicas = (count: number): Replica[] =>
  Array.from({ length: count }, (_, index) => replica(`r${index}`));

/** Some 4 KB that are the same for the same name, and different from the first block on. */
export const textOf = (name: string): string =>
  `${name}: ${`${name} said something. `.repeat(400)}`.slice(0, 4096);

/** A call of a conversation: its prompt and its session. */
export const callOf = (name: string, change: Partial<RoutedCall> = {}): RoutedCall => ({
  tried: [],
  model: 'writer',
  prompt: sampleCall({ messages: [{ role: 'user', content: [{ type: 'text', text: textOf(name) }] }] }),
  session: name,
  uncached: 0,
  ...change,
});

interface PolicyTraits {
  /** The calls of a conversation stay together. */
  readonly sticky: boolean;
}

export const policyContract = (t: Test, open: () => Policy, { sticky }: PolicyTraits): void => {
  /** Runs calls with so many of them in flight, and counts them by replica. */
  const distribution = (
    pool: readonly Replica[],
    {
      calls,
      inFlight,
      nameOf,
      now = 0,
    }: { calls: number; inFlight: number; nameOf: (call: number) => string; now?: number },
  ): { readonly counts: readonly number[]; readonly mostBusy: number } => {
    const policy = open();
    const counts = pool.map(() => 0);
    const running: { replica: Replica; call: RoutedCall }[] = [];
    let mostBusy = 0;
    for (let number = 0; number < calls; number++) {
      const call = callOf(nameOf(number));
      const chosen = policy.choose(pool, call, now);
      chosen.busy++;
      chosen.share.prefill += call.uncached;
      mostBusy = Math.max(mostBusy, chosen.busy);
      counts[pool.indexOf(chosen)] = (counts[pool.indexOf(chosen)] ?? 0) + 1;
      running.push({ replica: chosen, call });
      if (running.length < inFlight) continue;
      const ended = running.shift();
      if (ended === undefined) continue;
      ended.replica.busy--;
      ended.replica.share.prefill -= ended.call.uncached;
    }
    for (const { replica: busy, call } of running) {
      busy.busy--;
      busy.share.prefill -= call.uncached;
    }
    return { counts, mostBusy };
  };

  t.test('an ejected, full or tried replica is never chosen, and one that is left always', async () => {
    const states = fc.record({
      busy: fc.integer({ min: 0, max: 3 }),
      ejected: fc.boolean(),
      tried: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(states, { minLength: 1, maxLength: 6 }), fc.string(), (list, name) => {
        const all = list.map(({ busy, ejected }, index) => {
          const made = replica(`r${index}`);
          made.busy = busy;
          if (ejected) for (let count = 0; count < 2; count++) made.failed('connection', 1000);
          return made;
        });
        const free = all.filter((_, index) => {
          const state = list[index];
          return state !== undefined && state.busy < 3 && !state.ejected && !state.tried;
        });
        const tried = all.filter((_, index) => list[index]?.tried === true);
        const pool = new ReplicaPool({ replicas: all, policy: open(), concurrency: 3, log: silent });
        const chosen = pool.pick(callOf(name, { tried }), 1000);
        if (free.length === 0) return chosen === undefined;
        return chosen !== undefined && free.includes(chosen);
      }),
      { numRuns: 200 },
    );
  });

  t.test('calls are distributed by weight', async (t) => {
    for (const inFlight of [1, 60]) {
      const pool = [replica('a', 1), replica('b', 2), replica('c', 5)];
      const { counts } = distribution(pool, { calls: 4000, inFlight, nameOf: (call) => `chat ${call}` });
      const shares = counts.map((count) => count / 4000);
      for (const [index, due] of [1 / 8, 2 / 8, 5 / 8].entries())
        t.ok(Math.abs((shares[index] ?? 0) - due) < 0.3 * due, `${inFlight} in flight: ${shares.join(' ')}`);
    }
  });

  t.test('a popular conversation cannot drown a replica', async (t) => {
    for (const inFlight of [8, 64, 400]) {
      const { mostBusy } = distribution(replicas(4), { calls: 2000, inFlight, nameOf: () => 'popular' });
      const mean = inFlight / 4;
      t.ok(mostBusy <= 1.5 * mean + 10, `${mostBusy} of ${inFlight} on one of four`);
    }
  });

  t.test('a replica that joins gets its share little by little', async (t) => {
    const share = (now: number): number => {
      const pool = replicas(4);
      pool[3]?.share.startSlowly(0, 30_000);
      const { counts } = distribution(pool, {
        calls: 2000,
        inFlight: 40,
        nameOf: (call) => `chat ${call}`,
        now,
      });
      return (counts[3] ?? 0) / 2000;
    };
    const [atOnce, later, full] = [share(0), share(15_000), share(30_000)];
    t.ok(atOnce > 0 && atOnce < 0.08, `at once: ${atOnce}`);
    t.ok(later > 1.5 * atOnce && later < 0.22, `half of the time later: ${later}`);
    t.ok(Math.abs(full - 0.25) < 0.06, `in the end: ${full}`);
  });

  t.test('memory is bounded, whatever is sent', async (t) => {
    const policy = open();
    const pool = replicas(4);
    policy.choose(pool, callOf('first'), 0);
    const before = process.memoryUsage().arrayBuffers;
    for (let call = 0; call < 5000; call++) policy.choose(pool, callOf(`${call}`), 0);
    t.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
  });

  if (!sticky) return;

  const names = Array.from({ length: 400 }, (_, index) => `chat ${index}`);
  const homes = (policy: Policy, pool: readonly Replica[], now = 0): ReadonlyMap<string, Replica> =>
    new Map(names.map((name) => [name, policy.choose(pool, callOf(name), now)]));
  const kept = (before: ReadonlyMap<string, Replica>, after: ReadonlyMap<string, Replica>): number =>
    names.filter((name) => before.get(name) === after.get(name)).length;

  t.test('a conversation stays where it was, in pools of any size', async (t) => {
    for (const count of [2, 5, 40]) {
      const policy = open();
      const pool = replicas(count);
      const before = homes(policy, pool);
      t.equal(new Set(before.values()).size, count, 'all are used');
      t.equal(kept(before, homes(policy, pool)), names.length);
    }
  });

  t.test('gateways agree without talking, whatever the order of their lists', async (t) => {
    const pool = replicas(5);
    t.equal(kept(homes(open(), pool), homes(open(), [...pool].reverse())), names.length);
  });

  t.test('when a replica leaves, only its conversations move; when one joins, few do', async (t) => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 9 }), fc.nat(), fc.string(), (count, which, name) => {
        const policy = open();
        const pool = replicas(count);
        const gone = pool[which % count] as Replica;
        const before = homes(policy, pool);
        policy.forget(gone);
        const rest = pool.filter((each) => each !== gone);
        const after = homes(policy, rest);
        const orphans = names.filter((each) => before.get(each) === gone).length;
        const joined = homes(open(), [...pool, replica(`new ${name}`)]);
        return (
          kept(before, after) === names.length - orphans &&
          kept(before, joined) > names.length * (1 - 2 / count)
        );
      }),
      { numRuns: 15 },
    );
    const five = replicas(5);
    const after = homes(open(), five.slice(1));
    const parts = five.slice(1).map((each) => names.filter((name) => after.get(name) === each).length);
    t.ok(Math.max(...parts) < 2 * Math.min(...parts), `spread over the others: ${parts.join(' ')}`);
  });
};
