/** Kills and stops processes of a cluster at random, and measures how long until they and what they serve work again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/simulator/random.ts';
import type { Disturbed } from '../../services/child.ts';
import { supervised } from './supervised.ts';

/** One look: rejects or returns false while it does not work. */
export type Look = () => Promise<boolean>;

export interface Part extends Disturbed {
  readonly name: string;
  /** As it is now: a Redis node changes its role. */
  kind(): Promise<string>;
  /** Called before it is disturbed: what to look at afterwards. */
  watch(): Promise<{ readonly service: Look; readonly itself: Look }>;
}

/** Parts of which one at most is disturbed at a time, until it works again. */
export type Group = readonly [Part, ...Part[]];

export const faults = ['killed', 'stopped'] as const;

export interface Recovery {
  readonly kind: string;
  readonly name: string;
  readonly fault: (typeof faults)[number];
  /** Milliseconds until it was started again, or went on. */
  readonly away: number;
  /** From the fault to the first success of what it serves, tried after the fault; undefined: none in time. */
  readonly service: number | undefined;
  /** From its start, or its going on, to its own first success. */
  readonly itself: number | undefined;
}

export interface FaultOptions {
  /** Milliseconds between faults, and how long a process is away: minimum and maximum. */
  readonly pause: readonly [number, number];
  readonly away: readonly [number, number];
  /** Groups that are disturbed at once. */
  readonly atOnce: number;
  /** Milliseconds that a recovery may take. */
  readonly patience: number;
  readonly say: (line: string) => void;
}

export interface Faults {
  readonly recoveries: readonly Recovery[];
  /** No more faults; resolves when everything runs, and every look has ended. */
  stop(): Promise<void>;
}

/** A look that hangs in a stopped process does not keep the next one waiting. */
const spacing = 2_000;

export const startFaults = (groups: readonly Group[], random: Random, options: FaultOptions): Faults => {
  const recoveries: Recovery[] = [];
  const looking = new Set<Promise<void>>();
  const disturbed = new Map<Group, Promise<void>>();
  const stopping = new AbortController();

  /** Milliseconds until the first success. */
  const first = async (look: Look): Promise<number | undefined> => {
    const begun = performance.now();
    let seen: number | undefined;
    while (seen === undefined && performance.now() < begun + options.patience) {
      const one = look()
        .then(
          (works) => {
            if (works) seen ??= performance.now() - begun;
          },
          () => undefined, // tried again
        )
        .finally(() => looking.delete(one));
      looking.add(one);
      await Promise.race([one, delay(spacing)]);
      if (seen === undefined) await delay(100);
    }
    return seen;
  };

  const strike = async (part: Part, fault: Recovery['fault'], away: number): Promise<void> => {
    const kind = await part.kind();
    const { service, itself } = await part.watch();
    const whole = `${part.name} (${kind}) ${fault} for ${away} ms`;
    options.say(whole);
    if (fault === 'killed') await part.kill();
    else part.freeze();
    const served = first(service);
    await delay(away);
    const own = first(itself);
    if (fault === 'killed') await supervised(() => part.revive());
    else part.thaw();
    const recovery = { kind, name: part.name, fault, away, service: await served, itself: await own };
    recoveries.push(recovery);
    options.say(`${whole}: works after ${shown(recovery.service)}, itself after ${shown(recovery.itself)}`);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await delay(random.integer(...options.pause), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
      const [one, ...others] = groups.filter((group) => !disturbed.has(group));
      if (stopping.signal.aborted || one === undefined || disturbed.size >= options.atOnce) continue;
      const group = random.pick([one, ...others]);
      const struck = strike(random.pick(group), random.pick(faults), random.integer(...options.away));
      // The entry of one that failed stays, and is reported by stop.
      disturbed.set(
        group,
        struck.then(() => void disturbed.delete(group)),
      );
      disturbed.get(group)?.catch(() => stopping.abort());
    }
    await Promise.all(disturbed.values());
    await Promise.all(looking);
  };

  const running = run();
  running.catch(() => undefined); // reported by stop
  return {
    recoveries,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

const shown = (milliseconds: number | undefined): string =>
  milliseconds === undefined ? 'never' : `${Math.round(milliseconds)} ms`;
