/** Tests the Streams port on Redis: the contract between two gateways, and a gateway that dies. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { EMPTY, lastValueFrom } from 'rxjs';
import t from 'tap';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { openStreams, streamLimits } from '../contracts/redis.ts';
import { streamsContract } from '../contracts/streams.ts';
import { eventually } from '../eventually.ts';
import { redisMissing, startRedis } from '../services/redis.ts';

const newPrefix = (): string => `sluice-test-${randomBytes(6).toString('hex')}:`;

const quiet = {
  pause: () => {},
  resume: () => {},
  cancel: () => {},
  fail: () => {},
  live: () => {
    throw new Error('no request');
  },
};

t.test('contract', { skip: redisMissing() ?? false }, async (t) => {
  const service = await startRedis();
  const prefix = newPrefix();
  const [writer, reader] = await Promise.all([
    openStreams(service.url, prefix, t.testdir()),
    openStreams(service.url, prefix, t.testdir()),
  ]);
  t.teardown(async () => {
    await writer.close();
    await reader.close();
    const admin = new Redis(service.url);
    const left = await admin.keys(`${prefix}*`);
    if (left.length > 0) await admin.del(left);
    admin.disconnect();
    await service.stop();
  });
  t.test('two gateways', (t) =>
    streamsContract(t, { writer, reader, streamBytes: streamLimits.streamBytes }),
  );
  t.test('the gateway that writes', (t) =>
    streamsContract(t, { writer, reader: writer, streamBytes: streamLimits.streamBytes }),
  );
});

t.test('a gateway that dies', { skip: redisMissing() ?? false }, async (t) => {
  const service = await startRedis();
  const prefix = newPrefix();
  const deadMs = 1_000;
  const writer = await openStreams(service.url, prefix, t.testdir(), deadMs);
  const reader = await openStreams(service.url, prefix, t.testdir(), deadMs);
  t.teardown(async () => {
    await writer.close();
    await reader.close();
    await service.stop();
  });
  const log = writer.open({ id: 'one', subscription: 'sub_1', graceMs: 60_000, source: quiet });
  await log.publish();
  const chunk = (text: string) =>
    `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"m","provider":"Sluice","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`;
  const begun = `id: 0\n${chunk('Hel')}id: 1\n${chunk('lo')}`;
  log.append(begun, 2);

  let text = '';
  let done = false;
  const found = await eventually(() => reader.find('one', 'sub_1'), 'found');
  found.read(-1, new Backpressure()).subscribe({
    next: (next) => {
      text += String(next);
    },
    complete: () => {
      done = true;
    },
  });
  await eventually(() => text === begun, 'what was logged');

  // Its heart stops: as if its process had been killed.
  const admin = new Redis(service.url);
  t.teardown(() => admin.disconnect());
  const stopped = setInterval(() => {
    admin
      .keys(`${prefix}streams:alive:*`)
      .then((keys) => (keys.length > 0 ? admin.del(keys) : 0))
      .catch(t.threw);
  }, 20);
  await eventually(() => done, 'its end').finally(() => clearInterval(stopped));
  const [error, last] = text.slice(begun.length).split(/(?<=\n\n)/);
  t.strictSame(JSON.parse((error ?? '').replace(/^id: 2\ndata: /, '')), {
    id: 'chatcmpl-1',
    created: 7,
    model: 'm',
    provider: 'Sluice',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error', native_finish_reason: 'error' }],
    error: {
      code: 503,
      message: 'The gateway that wrote this stream is gone',
      type: 'server_error',
      param: null,
      metadata: { error_type: 'provider_overloaded' },
    },
  });
  t.equal(last, 'id: 3\ndata: [DONE]\n\n');
  t.equal(reader.stats().lost, 1);
  const again = await reader.find('one', 'sub_1');
  t.strictSame([again?.ended, again?.isDone(3)], [true, true], 'it has ended for everybody');

  t.equal(again?.isDone(6), false, 'a client may have read more than was logged');
  const rest = await lastValueFrom(again?.read(6, new Backpressure()) ?? EMPTY);
  t.equal(rest, `${error?.replace('id: 2', 'id: 7')}id: 8\ndata: [DONE]\n\n`, 'it gets the error, too');
});
