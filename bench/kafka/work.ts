/** What a candidate is made to do, in a process of its own: publish, consume, or live through outages. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { usageEvent } from '../../test/billing/usage-events.ts';
import type { Client, ClientOptions, OpenClient, Published } from './client.ts';

export interface Work {
  readonly client: string;
  readonly role: 'publish' | 'consume' | 'survive';
  readonly options: ClientOptions;
  /** Events to move; for outages, those that are published at least. */
  readonly events: number;
}

export interface Moved {
  readonly perSecond: number;
  /** Microseconds of this process for one event, on all its threads. */
  readonly cpu: number;
  readonly megabytes: number;
}

export interface Survived {
  readonly acknowledged: number;
  /** Publications that were refused, and made again. */
  readonly refused: number;
  /** Longest time without an acknowledgement and without a new event at the consumer, in milliseconds. */
  readonly publishGap: number;
  readonly consumeGap: number;
  /** Acknowledged, and never consumed. */
  readonly lost: number;
  /** Consumed more than once. */
  readonly copies: number;
}

const eventsOf = (count: number): UsageEvent[] => {
  const run = randomBytes(8).toString('hex');
  return Array.from({ length: count }, (_, n) => {
    const id = `req_${run}${n.toString(36)}`;
    const subscription = `sub_${(n % 40).toString().padStart(24, '0')}`;
    return usageEvent({ id: `usage_${id}`, request_id: id, subscription, time: Date.now() });
  });
};
const message = (event: UsageEvent): Published => ({ key: event.subscription, value: JSON.stringify(event) });

/** As many as our adapter puts into one publication. */
const portion = 500;
const warmUp = 20_000;

const measured = async (count: number, work: () => Promise<void>): Promise<Moved> => {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return {
    perSecond: count / ((performance.now() - begun) / 1000),
    cpu: (user + system) / count,
    megabytes: process.memoryUsage.rss() / 1024 / 1024,
  };
};

const publish = async (client: Client, count: number): Promise<Moved> => {
  // The same few repeatedly: making them is not what is measured.
  const messages = eventsOf(portion).map(message);
  const send = async (some: number): Promise<void> => {
    for (let sent = 0; sent < some; sent += portion) await client.publish(messages);
  };
  await send(warmUp);
  return measured(count, () => send(count));
};

/** Joining the group included: some clients have read all of it before they pass on the first. */
const consume = async (client: Client, count: number): Promise<Moved> => {
  const goal = warmUp + count;
  let taken = 0;
  const deadline = Date.now() + 120_000;
  return measured(goal, async () => {
    client.consume((values) => {
      taken += values.length;
    });
    while (taken < goal) {
      if (Date.now() > deadline) throw new Error(`only ${taken} of ${goal} events were consumed`);
      await delay(5);
    }
  });
};

/** Until standard input ends; then it is waited for the consumer. */
const survive = async (client: Client): Promise<Survived> => {
  const acknowledged = new Set<string>();
  const consumed = new Map<string, number>();
  const state = { refused: 0, publishGap: 0, consumeGap: 0, copies: 0 };
  let [published, received] = [Date.now(), Date.now()];
  let ending = false;
  process.stdin.resume().once('end', () => {
    ending = true;
  });
  client.consume((values) => {
    for (const value of values) {
      const { id } = JSON.parse(Buffer.from(value).toString()) as UsageEvent;
      const times = consumed.get(id) ?? 0;
      consumed.set(id, times + 1);
      if (times > 0) state.copies++;
      else {
        state.consumeGap = Math.max(state.consumeGap, Date.now() - received);
        received = Date.now();
      }
    }
  });
  while (!ending) {
    const some = eventsOf(40);
    const messages = some.map(message);
    for (;;) {
      try {
        await client.publish(messages);
        break;
      } catch {
        state.refused++;
        await delay(100);
      }
    }
    for (const { id } of some) acknowledged.add(id);
    state.publishGap = Math.max(state.publishGap, Date.now() - published);
    published = Date.now();
    if (acknowledged.size === 40) received = published; // the clock starts with the first
    await delay(10);
  }
  const lost = () => [...acknowledged].filter((id) => !consumed.has(id)).length;
  for (let tick = 0; tick < 300 && lost() > 0; tick++) await delay(100);
  return { ...state, acknowledged: acknowledged.size, lost: lost() };
};

const [argument] = process.argv.slice(2);
if (argument !== undefined) {
  const { client: name, role, options, events } = JSON.parse(argument) as Work;
  const { open } = (await import(`./clients/${name}.ts`)) as { open: OpenClient };
  const client = await open(options);
  const result = await (role === 'survive' ? survive(client) : { publish, consume }[role](client, events));
  process.stdout.write(`${JSON.stringify(result)}\n`);
  await Promise.race([client.close(), delay(10_000)]);
  process.exit(0);
}
