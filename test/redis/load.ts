/** Gateways' calls on Redis under load: limits, a budget, keys and jobs; remembers all that was acknowledged. */
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { createRedisAdmission } from '../../src/adapters/admission/redis.ts';
import { RedisAllowances } from '../../src/adapters/allowances/redis.ts';
import type { RedisSettings } from '../../src/adapters/redis-settings.ts';
import { openRedisState } from '../../src/adapters/state/redis.ts';
import { Client, request } from '../admission/client.ts';
import { period, reserved } from '../contracts/allowances.ts';
import { aloneProcess } from '../contracts/redis.ts';
import { eventually } from '../eventually.ts';

export interface LoadOptions {
  readonly prefix: string;
  readonly subscription: string;
  readonly gateways: number;
  /** Of starts in a window, and of the budget. */
  readonly rate: number;
  readonly windowMs: number;
  readonly budget: number;
}

export const recordKinds = ['key', 'job'] as const;

export const openLoad = async (redis: RedisSettings, options: LoadOptions) => {
  const { prefix, subscription, gateways, rate, windowMs } = options;
  const budget = period(`${subscription}/budget`, options.budget);
  const quick = { prefix, ttlMs: 3_000, patience: 1_000 };
  let outages = 0;
  const log = pino(
    { level: 'warn' },
    { write: (line: string) => void (line.includes('admission is not shared') && outages++) },
  );
  const admissions = Array.from({ length: gateways }, () =>
    createRedisAdmission(redis, { ...quick, windowMs, queueMs: 3_000, log }),
  );
  const allowances = Array.from(
    { length: gateways },
    () => new RedisAllowances(redis, { ...quick, ...aloneProcess() }),
  );
  const state = openRedisState(redis, { prefix });
  const closing = [...admissions, ...allowances, state];
  const ready = async () => {
    const checked = await Promise.allSettled(closing.map((each) => each.check()));
    return checked.every(({ status }) => status === 'fulfilled');
  };
  await eventually(ready, 'connections');

  let running = true;
  const loopDelay = monitorEventLoopDelay();
  loopDelay.enable();
  const starts: number[] = [];
  let spent = 0;
  const created = recordKinds.map(() => [] as string[]);
  /** When the last change of each kind was acknowledged, and when the first after `mark`. */
  let marked = Number.POSITIVE_INFINITY;
  const again = recordKinds.map(() => undefined as number | undefined);

  const loops: Promise<void>[] = [];
  const loop = (work: () => Promise<void>): void => {
    const repeat = async () => {
      while (running) await work();
    };
    loops.push(repeat());
  };
  const asked = request({ concurrency: 10_000, requests_per_minute: rate }, subscription);
  for (const admission of admissions)
    loop(async () => {
      const client = new Client(admission, asked, ({ kind }) => {
        if (kind === 'admitted') starts.push(performance.now());
      });
      if ((await client.result()) === 'admitted') client.release();
      await delay(5);
    });
  for (const each of allowances)
    loop(async () => {
      const id = `req_${randomBytes(6).toString('hex')}`;
      const reservation = await reserved(each, id, [{ allowance: budget, amount: 100 }]).catch(
        () => undefined,
      );
      await delay(5);
      if (reservation === undefined) return;
      const cost = 1 + Math.floor(Math.random() * 100);
      reservation.settle([cost]);
      spent += cost;
    });
  for (const [index, kind] of recordKinds.entries())
    loop(async () => {
      const id = `${kind}_${randomBytes(6).toString('hex')}`;
      const begun = performance.now();
      const done = await state.create(kind, { id, owner: subscription, value: { id } }).catch(() => false);
      if (done) {
        created[index]?.push(id);
        if (begun > marked) again[index] ??= performance.now() - marked;
      }
      await delay(done ? 1 : 20);
    });

  return {
    starts,
    state,
    created,
    again,
    /** Of single gateways. */
    outages: () => outages,
    /** Of this process, in which all gateways run. */
    longestStallMs: () => loopDelay.max / 1e6,
    spent: () => spent,
    mark: () => {
      marked = performance.now();
    },
    shared: () => admissions.every((each) => each.stats().shared),
    /** As Redis counts it. */
    used: async () => (await allowances[0]?.used([budget]))?.[0],
    end: async () => {
      running = false;
      await Promise.all(loops);
    },
    close: async () => {
      running = false;
      await Promise.allSettled(loops);
      loopDelay.disable();
      await Promise.all(closing.map((each) => each.close()));
    },
  };
};

/** The most that started within so many milliseconds. */
export const mostWithin = (times: readonly number[], ms: number): number => {
  let first = 0;
  let most = 0;
  for (const [index, time] of times.entries()) {
    while (time - (times[first] ?? time) >= ms) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
};
