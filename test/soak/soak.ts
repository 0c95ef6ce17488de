/** Runs mixed load on a gateway and compares held resources before and after. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../src/simulator/random.ts';
import { actions, type Client, sweep } from './actions.ts';
import type { Held } from './gateway-process.ts';

export interface SoakOptions {
  readonly seed: number;
  readonly milliseconds: number;
  readonly clients: number;
  /** Milliseconds in which everything has to be given back. */
  readonly patience: number;
  readonly say?: (line: string) => void;
}

export interface Stats extends Held {
  /** Names of our files among the temporary ones, and of blobs. */
  readonly temporary: readonly string[];
  readonly blobs: readonly string[];
}

export interface SoakOutcome {
  readonly before: Stats;
  readonly after: Stats;
  readonly done: number;
  readonly left: number;
}

const key = 'sk-soak-0123456789abcdef0123456789abcdef';

/** Milliseconds of load before the first look: threads, caches and connections of the first requests stay. */
export const warmUpOf = (milliseconds: number): number => milliseconds / 4;

export const runSoak = async (options: SoakOptions): Promise<SoakOutcome> => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-soak-'));
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const child = fork(new URL('./gateway-process.ts', import.meta.url), {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    env: {
      ...process.env,
      PORT: '0',
      SLUICE_DATA: join(folder, 'data'),
      SLUICE_BOOTSTRAP_KEY: key,
      SLUICE_DRAIN_SECONDS: '1',
      TMPDIR: temporary,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  try {
    const [url] = (await once(child, 'message')) as [string];
    const random = new Random(options.seed);
    const client: Client = { url, key, random: random.fork('sweep') };
    const look = async (): Promise<Stats> => {
      child.send('look');
      const [held] = (await once(child, 'message')) as [Held];
      return {
        ...held,
        temporary: filesIn(temporary).filter((name) => name.startsWith('sluice-')),
        blobs: filesIn(join(folder, 'data', 'blobs', 'files')),
      };
    };
    /** Once nothing is under way, or time is up. */
    const rest = async (): Promise<Stats> => {
      await sweep(client);
      const end = Date.now() + options.patience;
      for (;;) {
        const stats = await look();
        if (isAtRest(stats) || Date.now() > end) return stats;
        await delay(250);
      }
    };

    await load(warmUpOf(options.milliseconds), options, url, random.fork('first'));
    const before = await rest();
    options.say?.(`at rest: ${JSON.stringify(before)}`);
    const { done, left } = await load(options.milliseconds, options, url, random.fork('then'));
    const after = await rest();
    options.say?.(`at rest again: ${JSON.stringify(after)}`);
    return { before, after, done, left };
  } finally {
    if (child.connected) child.disconnect();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
};

export const isAtRest = ({ inFlight, leases, waiting, renders, temporary, blobs }: Stats): boolean =>
  inFlight + leases + waiting + renders + temporary.length + blobs.length === 0;

const load = async (
  milliseconds: number,
  { clients }: SoakOptions,
  url: string,
  random: Random,
): Promise<{ done: number; left: number }> => {
  const end = Date.now() + milliseconds;
  let done = 0;
  let left = 0;
  const runClient = async (dice: Random): Promise<void> => {
    while (Date.now() < end) {
      const leaves = dice.fraction() < 0.25;
      const signal = AbortSignal.timeout(leaves ? dice.integer(1, 300) : 60_000);
      try {
        await dice.pick(actions)({ url, key, random: dice }, signal);
        done++;
      } catch (error) {
        // A client that left, or a stream that was cut on purpose.
        if (leaves || !signal.aborted) left++;
        else throw error;
      }
    }
  };
  await Promise.all(
    Array.from({ length: clients }, (_, number) => runClient(random.fork(`client ${number}`))),
  );
  return { done, left };
};

/** Below the folder, with their folders; a compiler's cache may be among the temporary ones. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
