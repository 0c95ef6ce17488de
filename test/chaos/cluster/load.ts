/** Clients of a chaos run: a mix of all routes at a given rate, and keys that exhaust their limits and a budget. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../src/simulator/random.ts';
import { Client } from '../../topology/client.ts';
import { chatQuantities, operations as mix } from '../../topology/operations.ts';
import type { Accounts } from './accounts.ts';
import type { Jobs } from './jobs.ts';
import { more, type Stores } from './operations.ts';

type ChatUsage = Parameters<typeof chatQuantities>[0];

/** A request of a limited key that was admitted: its decision lies between the two times. */
export interface Admitted {
  readonly sent: number;
  readonly answered: number;
  readonly tokens: number;
}

export interface ClusterLoad {
  readonly clients: readonly Client[];
  readonly admitted: Readonly<Record<keyof Accounts['limited'], readonly Admitted[]>>;
  /** What operations failed with, and how often: digits left out. */
  readonly failures: ReadonlyMap<string, number>;
  performed(): number;
  /** Ends when all that runs has been answered. */
  stop(): Promise<void>;
}

interface LoadOptions {
  readonly front: string;
  readonly accounts: Accounts;
  readonly jobs: Jobs;
  readonly stores: Stores;
  readonly random: Random;
  /** Operations per second. */
  readonly rate: number;
}

/** Of all operations. */
const jobShare = 1 / 30;
/** Under way at once, whatever hangs. */
const mostRunning = 100;

export const startClusterLoad = ({
  front,
  accounts,
  jobs,
  stores,
  random,
  rate,
}: LoadOptions): ClusterLoad => {
  const clients = accounts.secrets.map((secret) => new Client([front], secret));
  const [first, ...others] = clients;
  const [one, ...rest] = [...mix, ...more(front, stores)];
  if (first === undefined || one === undefined) throw new Error('nobody asks for anything');
  const failures = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let performed = 0;
  let stopped = false;

  const perform = (operation: (client: Client) => Promise<unknown>, client: Client): void => {
    const run = operation(client)
      .then(
        () => {
          performed++;
        },
        (error: unknown) => {
          const words = String(error instanceof Error ? error.message : error);
          const kind = words
            .replace(/[\w-]*\d[\w-]*/g, (word) => (/^\d{3}$/.test(word) ? word : '…'))
            .slice(0, 160);
          failures.set(kind, (failures.get(kind) ?? 0) + 1);
        },
      )
      .finally(() => running.delete(run));
    running.add(run);
  };
  const ask = async (): Promise<void> => {
    while (!stopped) {
      await delay(1000 / rate);
      if (running.size >= mostRunning) continue;
      const client = random.pick([first, ...others]);
      if (random.fraction() < jobShare) perform((by) => jobs.any(by, random), client);
      else perform(random.pick([one, ...rest]), client);
    }
  };

  const admitted = { requests: [] as Admitted[], tokens: [] as Admitted[], budget: [] as Admitted[] };
  const limited = Object.entries(accounts.limited).map(([kind, { secret }]) => ({
    client: new Client([front], secret),
    seen: admitted[kind as keyof typeof admitted],
  }));
  const exhaust = async (client: Client, seen: Admitted[]): Promise<void> => {
    while (!stopped) {
      await delay(1000);
      if (running.size < mostRunning) perform((by) => chatOf(by, seen), client);
    }
  };
  const loops = [ask(), ...limited.map(({ client, seen }) => exhaust(client, seen))];
  return {
    clients: [...clients, ...limited.map(({ client }) => client)],
    admitted,
    failures,
    performed: () => performed,
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
      await Promise.all(running);
    },
  };
};

const chatOf = async (client: Client, seen: Admitted[]): Promise<void> => {
  const [route, model] = ['/chat/completions', 'sluice/chat'];
  const body = { model, max_tokens: 20, messages: [{ role: 'user', content: '/sim tokens=20 rate=max' }] };
  const sent = Date.now();
  const { requestId, body: answer } = await client.json<{ usage: ChatUsage }>(route, { body });
  const { prompt_tokens, completion_tokens } = answer.usage;
  seen.push({ sent, answered: Date.now(), tokens: prompt_tokens + completion_tokens });
  await client.bill(requestId, route, model, chatQuantities(answer.usage));
};
