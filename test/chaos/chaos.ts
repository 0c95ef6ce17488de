/** Runs gateways under load while processes are killed and restarted at random, then checks the billing. */
import { setTimeout as delay } from 'node:timers/promises';
import { differs, type Report } from '../../src/billing/verify.ts';
import { Random } from '../../src/simulator/random.ts';
import { type KillerOptions, startKiller } from './killer.ts';
import { startLoad } from './load.ts';
import { type Stack, type StackOptions, startStack } from './stack.ts';
import { isGood, judge, type Verdict } from './verdict.ts';

export interface ChaosOptions extends StackOptions, KillerOptions {
  readonly seed: number;
  readonly milliseconds: number;
  /** Kills that there must have been; the run goes on until then. */
  readonly kills: number;
  readonly clients: number;
  /** Milliseconds in which everything has to arrive once all runs again. */
  readonly settle: number;
  readonly say?: (line: string) => void;
}

export interface Outcome {
  readonly verdict: Verdict;
  readonly kills: ReadonlyMap<string, number>;
  /** Journal, Kafka and ledger compared. */
  readonly report: Report;
  readonly good: boolean;
}

export const runChaos = async (options: ChaosOptions): Promise<Outcome> => {
  const say = options.say ?? (() => undefined);
  const random = new Random(options.seed);
  const stack = await startStack(options);
  try {
    say(`${stack.victims.map(({ name }) => name).join(', ')} are up`);
    const load = startLoad(stack, random.fork('load'), options.clients);
    const killer = startKiller(stack.victims, random.fork('killer'), options);
    const total = () => [...killer.kills.values()].reduce((sum, count) => sum + count, 0);
    const end = Date.now() + options.milliseconds;
    // The second half of the time again, at most, for kills that a slow machine has not got to.
    while (Date.now() < end || (total() < options.kills && Date.now() < end + options.milliseconds)) {
      await delay(Math.min(5_000, options.milliseconds / 4));
      say(`${total()} kills, ${load.sights.length} requests`);
    }
    await killer.stop();
    await load.stop();
    say('all runs again; waiting for the last events');
    const verdict = await settled(stack, () => judge(stack, load.sights), options.settle);
    const report = await stack.verify();
    return { verdict, kills: killer.kills, report, good: isGood(verdict) && !differs(report) };
  } finally {
    await stack.stop();
  }
};

/** The verdict once nothing is missing and nothing is on its way, or when the time is over. */
const settled = async (stack: Stack, look: () => Promise<Verdict>, within: number): Promise<Verdict> => {
  const end = Date.now() + within;
  for (;;) {
    const verdict = await look();
    const { journal, kafka } = await stack.verify();
    const arrived = verdict.missing.length === 0 && journal.waiting + (kafka?.waiting ?? 0) === 0;
    if (arrived || Date.now() > end) return arrived ? await look() : verdict;
    await delay(500);
  }
};
