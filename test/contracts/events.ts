/** The contract suite of Events adapters. `open` connects so that published usage reaches `receive`. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import type { EventMessage, Events, Receiver } from '../../src/ports/events.ts';

export type OpenEvents = (receive: Receiver) => {
  readonly events: Events;
  readonly stop: () => Promise<void>;
};

export const eventsContract = async (t: Test, open: OpenEvents): Promise<void> => {
  const received: string[] = [];
  const receive: Receiver = async (messages) => {
    received.push(...messages.map(({ value }) => Buffer.from(value ?? '').toString()));
    return [];
  };
  const { events, stop } = open(receive);
  t.teardown(stop);
  await events.check();

  /** What was received of one test's messages, once all are there. */
  const arrived = async (mark: string, count: number): Promise<string[]> => {
    const own = () => received.filter((json) => json.includes(mark));
    for (let turn = 0; turn < 1500 && new Set(own()).size < count; turn++) await delay(20);
    return own();
  };
  const message = (key: string, mark: string, number: number): EventMessage => ({
    key,
    value: JSON.stringify({ mark, key, number, text: 'ü🎵\u0000"\\\n' }),
  });

  await t.test('published messages arrive unchanged, in order per key', async (t) => {
    const keys = ['a', 'b', 'ключ 🎵', ''];
    const messages = Array.from({ length: 200 }, (_, n) => message(keys[n % 4] ?? '', 'order', n));
    for (let i = 0; i < messages.length; i += 50) await events.publish('usage', messages.slice(i, i + 50));
    const found = await arrived('"order"', messages.length);
    for (const key of keys) {
      const of = (all: readonly string[]) => all.filter((json) => JSON.parse(json).key === key);
      t.strictSame(of(found), of(messages.map(({ value }) => String(value))), `key "${key}"`);
    }
  });

  await t.test('concurrent and large publications all arrive', async (t) => {
    const many = Array.from({ length: 3000 }, (_, n) => ({
      key: `k${n % 7}`,
      value: JSON.stringify({ mark: 'large', n, filler: 'x'.repeat(500) }),
    }));
    await Promise.all([
      events.publish('usage', many.slice(0, 2500)),
      events.publish('usage', many.slice(2500)),
      events.publish('usage', []),
      events.publish('jobs', [{ key: 'job', value: '{"mark":"large"}' }]),
    ]);
    const found = await arrived('"large"', many.length);
    t.strictSame(new Set(found), new Set(many.map(({ value }) => value)), 'and jobs are apart');
  });

  await t.test('after closing nothing is accepted', async (t) => {
    await stop();
    await events.close();
    await t.rejects(events.publish('usage', [message('a', 'closed', 1)]));
    await t.rejects(events.check(), /^[A-Z].*\.$/, 'a plain sentence');
  });
};
