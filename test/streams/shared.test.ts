/** Resumable streams of gateways that share a Redis: read and cancelled anywhere, and ended when their gateway dies. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { answers, buildIfStale, startSluice } from '../chaos/stack.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { freePort } from '../services/child.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { ask, contentOf, eventsOf, idOf, lastId, leaveAfter, resume, say, send } from './client.ts';

const chat = (prompt: string) => ({ model: 'sluice/chat', messages: say(prompt), stream: true });
const resumable = { 'sluice-resumable': '60' };
const begin = (at: Pick<TestGateway, 'url' | 'key'>, prompt: string) =>
  send(at, 'POST', '/chat/completions', { body: chat(prompt), headers: resumable });

const watch = ({ ports: { usage } }: TestGateway): readonly UsageEvent[] => {
  const events: UsageEvent[] = [];
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  return events;
};

t.test('two gateways', { skip: redisMissing({ own: true }) ?? false }, async (t) => {
  const redis = await startRedis({ own: true });
  const env = { REDIS_URL: redis.url, SLUICE_REDIS_PERSISTENCE: 'ignore' };
  const [one, two] = [await startGateway({ env }), await startGateway({ env })];
  t.teardown(async () => {
    await one.stop();
    await two.stop();
    await redis.stop();
  });
  const events = [watch(one), watch(two)];

  t.test('either serves the rest, after every event', async (t) => {
    const prompt = '/sim tokens=30 seed=4 rate=100';
    const sent = await begin(one, prompt);
    const id = idOf(sent);
    const before = await leaveAfter(sent, 3);
    const [there, here] = await Promise.all([
      resume(two, id, lastId(before)),
      resume(one, id, lastId(before)),
    ]);
    t.equal(there.text, here.text);
    const all = [...before, ...eventsOf(there.text)];
    for (const after of all.keys())
      t.equal((await resume(two, id, after)).text, all.slice(after + 1).join(''), `after ${after}`);
    const plain = await ask(two, 'POST', '/chat/completions', { body: chat(prompt) });
    t.equal(contentOf(all), contentOf(eventsOf(plain.text)));
    const mine = events.flat().filter(({ request_id }) => request_id.endsWith(id.slice('stream_'.length)));
    t.equal(mine.length, 1, 'billed once');
  });

  t.test('either cancels', async (t) => {
    const sent = await begin(one, '/sim tokens=100000 rate=50');
    const id = idOf(sent);
    const reading = leaveAfter(sent, Number.POSITIVE_INFINITY);
    await eventually(
      async () => (await two.ports.streams.find(id.slice(7), 'sub_none')) === undefined,
      'known',
    );
    t.equal((await ask(two, 'DELETE', `/streams/${id}`)).status, 204);
    t.match((await reading).at(-1), /data: \[DONE\]/);
    t.equal((await resume(two, id, 0)).status, 404);
    await eventually(async () => (await resume(one, id, 0)).status === 404, 'nor does the other have it');
    await eventually(() => one.ports.admission.stats().running === 0, 'its slot is free');
  });

  t.test('responses in the background', async (t) => {
    const body = { model: 'sluice/chat', input: '/sim tokens=100000 rate=50', background: true };
    const { text } = await ask(one, 'POST', '/responses', { body });
    const { id } = JSON.parse(text);
    const polled = await eventually(async () => {
      const { status, text } = await ask(two, 'GET', `/responses/${id}`);
      return status === 200 && JSON.parse(text);
    }, 'found by the other');
    t.match(polled, { id, status: 'in_progress' });
    const cancelled = await ask(two, 'POST', `/responses/${id}/cancel`);
    t.match(JSON.parse(cancelled.text), { id, status: 'cancelled' });
    t.match(JSON.parse((await ask(one, 'GET', `/responses/${id}`)).text), { id, status: 'cancelled' });
  });

  t.test('random disconnects, coming back to either', async (t) => {
    const numbers = Array.from({ length: 24 }, (_, number) => number);
    const prompt = (number: number) => `/sim tokens=${80 + number * 5} seed=${number} rate=300`;
    const before = events.flat().length;
    const disturbed = async (number: number): Promise<string> => {
      const sent = await begin(number % 2 === 0 ? one : two, prompt(number));
      const id = idOf(sent);
      const got = await leaveAfter(sent, 1 + (number % 5) * 7);
      for (let round = 0; round < 4; round++) {
        const again = await send(
          (number + round) % 3 === 0 ? one : two,
          'GET',
          `/streams/${id}?after=${lastId(got)}`,
        );
        got.push(...(await leaveAfter(again, 1 + ((number + round) % 6) * 4)));
      }
      got.push(...eventsOf((await resume(number % 2 === 0 ? two : one, id, lastId(got))).text));
      t.strictSame(
        got.map((event) => lastId([event])),
        got.map((_, index) => index),
      );
      return contentOf(got);
    };
    const texts = await Promise.all(numbers.map(disturbed));
    t.equal(events.flat().length, before + numbers.length, 'each billed once');
    for (const number of numbers) {
      const plain = await ask(one, 'POST', '/chat/completions', { body: chat(prompt(number)) });
      t.equal(texts[number], contentOf(eventsOf(plain.text)), `text ${number}`);
    }
  });

  t.test('a gateway that is killed: readers elsewhere get what was logged, and the error', async (t) => {
    buildIfStale();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-streams-'));
    const port = await freePort();
    const third = { url: `http://127.0.0.1:${port}/v1`, key: one.key };
    const victim = await startSluice(
      'gateway',
      ['serve'],
      {
        ...env,
        PORT: String(port),
        SLUICE_ADMIN_PORT: 'off',
        SLUICE_DATA: folder,
        SLUICE_BOOTSTRAP_KEY: one.key,
      },
      () => answers(third.url),
    );
    t.teardown(async () => {
      await victim.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const sent = await begin(third, '/sim tokens=100000 seed=1 rate=100');
    const id = idOf(sent);
    const before = await leaveAfter(sent, 5);
    const reading = await send(one, 'GET', `/streams/${id}?after=${lastId(before)}`);
    const text = leaveAfter(reading, Number.POSITIVE_INFINITY);
    let isRead = false;
    reading.on('data', (piece: string) => {
      isRead ||= piece.includes('id: ');
    });
    // What the first client has read is logged by then.
    await eventually(() => isRead, 'it is read');
    await victim.kill();
    const got = [...before, ...(await text)];
    t.match(got.at(-2), /"error":\{"code":503,"message":"The gateway that wrote this stream is gone"/);
    t.equal(got.at(-1), `id: ${got.length - 1}\ndata: [DONE]\n\n`);
    t.equal((await resume(two, id, -1)).text, got.join(''), 'the same for everybody');
    t.equal(one.ports.streams.stats().lost, 1);
  });
});
