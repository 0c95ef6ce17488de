/** Kills and restarts processes at times and in an order that the seed decides. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../src/simulator/random.ts';
import type { Victim } from './stack.ts';

export interface Killer {
  /** By name of the victim. */
  readonly kills: ReadonlyMap<string, number>;
  /** No more kills; resolves when everything runs again. */
  stop(): Promise<void>;
}

export interface KillerOptions {
  /** Milliseconds between kills, and until a victim restarts: minimum and maximum. */
  readonly pause: readonly [number, number];
  readonly absence: readonly [number, number];
}

export const startKiller = (victims: readonly Victim[], random: Random, options: KillerOptions): Killer => {
  const kills = new Map<string, number>();
  const reviving = new Map<Victim, Promise<void>>();
  const stopping = new AbortController();

  let failure: unknown;

  const strike = async (victim: Victim): Promise<void> => {
    const absence = random.integer(...options.absence);
    kills.set(victim.name, (kills.get(victim.name) ?? 0) + 1);
    await victim.kill();
    await delay(absence);
    await victim.revive();
    reviving.delete(victim);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await delay(random.integer(...options.pause), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
      const [first, ...others] = victims.filter((victim) => !reviving.has(victim));
      if (stopping.signal.aborted || first === undefined) continue;
      const victim = random.pick([first, ...others]);
      const struck = strike(victim).catch((error: unknown) => {
        failure ??= error;
        stopping.abort();
      });
      reviving.set(victim, struck);
    }
    await Promise.all(reviving.values());
    if (failure !== undefined) throw failure;
  };

  const running = run();
  running.catch(() => undefined); // reported by stop
  return {
    kills,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
