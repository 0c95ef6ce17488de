/** Runs the whole topology under load while any of its processes is killed or stopped, then judges it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { nanodollars } from '../../../src/helpers/decimal.ts';
import { Random } from '../../../src/simulator/random.ts';
import { startReceiver } from '../../webhooks/receiver.ts';
import { signaturesBy } from '../../webhooks/verify.ts';
import { everything } from '../verdict.ts';
import { limits } from './accounts.ts';
import { type FaultOptions, type Recovery, startFaults } from './faults.ts';
import { everyJob, hasEnded, type JobPath, Jobs, stateOf } from './jobs.ts';
import { type Admitted, startClusterLoad } from './load.ts';
import { Stores } from './operations.ts';
import { counts, startCluster } from './stack.ts';
import { faultsOf, judgeCluster, mayHeal, mostInMinute, type Verdict } from './verdict.ts';

export interface ClusterOptions extends Omit<FaultOptions, 'say'> {
  readonly seed: number;
  readonly minutes: number;
  /** Operations per second, beside those of limited keys. */
  readonly rate: number;
  /** Milliseconds in which everything has to arrive once all runs again. */
  readonly settle: number;
  readonly say: (line: string) => void;
}

/** What was used of a limit: the most that a correct gateway may let through, and what it did. */
export interface Used {
  readonly what: string;
  readonly limit: number;
  readonly allowed: number;
  readonly used: number;
}

export interface ClusterOutcome {
  readonly verdict: Verdict;
  readonly recoveries: readonly Recovery[];
  readonly used: readonly Used[];
  readonly performed: number;
  readonly jobs: Readonly<Record<string, number>>;
  readonly deliveries: number;
  readonly failures: ReadonlyMap<string, number>;
  /** Names of what is not as it should be. */
  readonly problems: readonly string[];
}

const paths: readonly JobPath[] = ['/videos', '/music'];

export const runCluster = async (options: ClusterOptions): Promise<ClusterOutcome> => {
  const { say } = options;
  const random = new Random(options.seed);
  const closing: (() => Promise<void>)[] = [];
  const receiver = await startReceiver({ teardown: (close) => closing.push(close) });
  try {
    const jobs = new Jobs(receiver.url);
    const stores = new Stores();
    // A request per second is asked for: the budget is used up half way.
    const stack = await startCluster(jobs, (0.0008 * options.minutes).toFixed(9));
    closing.push(() => stack.stop());
    const { accounts, front, probe, ledger } = stack;
    const secrets = new Set<string>();
    await stores.prepare(probe);
    const store = await stores.create(probe);
    const load = startClusterLoad({
      ...{ front, accounts, jobs, stores },
      rate: options.rate,
      random: random.fork('load'),
    });
    for (const client of [...load.clients, probe]) await client.prices();
    for (const client of load.clients)
      secrets.add((await client.json<{ secret: string }>('/webhooks/secret')).body.secret);
    const groups = stack.groups(async () => (await stores.search(probe, store, front)) > 0);
    say(
      `${groups
        .flat()
        .map(({ name }) => name)
        .join(', ')} are up`,
    );

    const faults = startFaults(groups, random.fork('faults'), options);
    for (const end = Date.now() + options.minutes * 60_000; Date.now() < end; ) {
      await delay(Math.min(30_000, Math.max(0, end - Date.now())));
      say(
        `${faults.recoveries.length} recoveries, ${load.performed()} operations, ${jobs.created.length} jobs`,
      );
    }
    await faults.stop();
    await load.stop();
    say('all runs again; waiting for the last events, jobs and webhooks');

    const clients = [...load.clients, probe];
    const until = Date.now() + options.settle;
    const files = await settled(
      stores.files,
      (file) => stores.settle(file),
      (status) => status !== 'in_progress',
      until,
    );
    const ended = await settled(jobs.created, (job) => stateOf(job), hasEnded, until);
    for (const [job, status] of ended)
      if (status === 'completed')
        await job.client.bill(job.requestId, job.path, job.model, { seconds: job.seconds });
    const listed: Record<string, { id: string; status: string }[]> = {};
    for (const path of paths) {
      listed[path] = [];
      for (const client of load.clients.slice(0, accounts.secrets.length))
        listed[path].push(...(await everyJob(client, path)));
    }
    const look = async (): Promise<Verdict> => {
      const deliveries = await Promise.all(
        receiver.deliveries.map(async (one) => ({
          job: (JSON.parse(one.body.toString()) as { data: { id: string } }).data.id,
          key: String(one.headers['x-service-idempotency-key']),
          signed: (await Promise.all([...secrets].map((each) => signaturesBy(one, each)))).includes(1),
        })),
      );
      return judgeCluster({
        ...{ clients, listed, deliveries, events: await everything(ledger), reports: await stack.verify() },
        jobs: ended.map(([job, status]) => ({ ...job, status })),
      });
    };
    let verdict = await look();
    while (mayHeal(verdict) && Date.now() < until) {
      say(`not yet: ${faultsOf(verdict).join(', ')}`);
      await delay(5_000);
      verdict = await look();
    }
    const counted = await accounts.budgetUsed(Math.max(60, (until - Date.now()) / 1000));
    const used = usedOf(load.admitted, accounts, await everything(ledger), counted);
    const unready = files.filter(([, status]) => status !== 'completed');
    const slow = faults.recoveries.filter(
      ({ service, itself }) => service === undefined || itself === undefined,
    );
    return {
      ...{ verdict, recoveries: faults.recoveries, used, failures: load.failures },
      performed: load.performed(),
      jobs: tally(ended.map(([, status]) => status)),
      deliveries: receiver.deliveries.length,
      problems: [
        ...faultsOf(verdict),
        ...used.filter((one) => one.used > one.allowed).map(({ what }) => `${what} exceeded`),
        ...unready.map(([{ id }, status]) => `file ${id} is ${status}`),
        ...slow.map(({ name, fault }) => `${name}, ${fault}, did not recover`),
        ...[...load.failures.keys()].filter((words) => words.startsWith('Wrong')),
      ],
    };
  } finally {
    for (const close of closing.reverse()) await close();
  }
};

/** Asks again for the state of those that are not through, until the time is over. */
const settled = async <T>(
  all: readonly T[],
  stateOfOne: (one: T) => Promise<string>,
  isThrough: (state: string) => boolean,
  until: number,
): Promise<readonly (readonly [T, string])[]> => {
  const states: (readonly [T, string])[] = [];
  for (const one of all) {
    let state = await stateOfOne(one);
    while (!isThrough(state) && Date.now() < until) {
      await delay(500);
      state = await stateOfOne(one);
    }
    states.push([one, state]);
  }
  return states;
};

type LimitedKeys = Parameters<typeof startClusterLoad>[0]['accounts'];

/**
 * A gateway that loses Redis while others reach it may use its portion of a limit beside theirs (docs/limits.md); a
 * budget is never exceeded.
 */
const usedOf = (
  admitted: Readonly<Record<keyof LimitedKeys['limited'], readonly Admitted[]>>,
  { limited, budget }: LimitedKeys,
  events: readonly UsageEvent[],
  counted: number,
): readonly Used[] => {
  const withPortions = (limit: number): number =>
    limit + (counts.gateways - 1) * Math.floor(limit / counts.gateways);
  const spent = events
    .filter(({ key }) => key === limited.budget.id)
    .reduce((sum, { cost }) => sum + nanodollars(cost), 0);
  const requests = mostInMinute(admitted.requests, () => 1);
  const tokens = mostInMinute(admitted.tokens, (one) => one.tokens);
  return [
    {
      what: 'requests in a minute',
      limit: limits.requests,
      allowed: withPortions(limits.requests),
      used: requests,
    },
    { what: 'tokens in a minute', limit: limits.tokens, allowed: withPortions(limits.tokens), used: tokens },
    { what: 'nanodollars billed', limit: budget, allowed: budget, used: spent },
    // What was spent is counted; a share that a gateway may have used while it was cut off counts too.
    { what: 'nanodollars billed and not counted', limit: 0, allowed: 0, used: Math.max(0, spent - counted) },
  ];
};

const tally = (words: readonly string[]): Readonly<Record<string, number>> => {
  const counted: Record<string, number> = {};
  for (const word of words) counted[word] = (counted[word] ?? 0) + 1;
  return counted;
};
