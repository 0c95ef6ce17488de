/** Tests webhook deliveries: payloads, signatures, retries, senders and refused addresses. */
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import type { JobRecord } from '../../schemas/jobs.ts';
import { openLibsqlState } from '../../src/adapters/state/libsql.ts';
import { createWebhooks, type WebhookSettings } from '../../src/webhooks/webhooks.ts';
import { eventually } from '../eventually.ts';
import { startReceiver } from './receiver.ts';
import { countOf, signaturesBy, timeOf } from './verify.ts';

const hour = 3_600_000;
const log = pino({ level: 'silent' });

const start = (t: Test, settings: Partial<WebhookSettings> = {}) => {
  const state = openLibsqlState(join(t.testdir(), 'state.db'));
  const clock = { now: 1_800_000_000_000 };
  const open = (more: Partial<WebhookSettings> = {}) =>
    createWebhooks(
      {
        state,
        recordOf: ({ job }, publicUrl) => ({ id: job.id, status: job.status, note: 'ünïcode', publicUrl }),
        publicUrl: () => 'https://fallback.example/v1',
        log,
      },
      { allowPrivate: true, pollMs: 600_000, now: () => clock.now, ...settings, ...more },
    );
  const webhooks = open();
  t.teardown(async () => {
    await webhooks.close();
    await state.close();
  });
  return { webhooks, clock, state, another: open };
};

const job = (url: string, change: Partial<JobRecord> = {}) => {
  const record: Partial<JobRecord> = {
    id: 'video_0123456789abcdef01234567',
    type: 'video',
    status: 'completed',
    subscription: 'sub_a',
    callback_url: url,
    created: 1_799_999_990_000,
    moved: 1_799_999_999_999,
    public_url: 'https://gateway.example/v1',
    ...change,
  };
  return { job: record as JobRecord, queuePosition: undefined, progress: 100 };
};

t.test('an event is delivered as the contract says', async (t) => {
  const receiver = await startReceiver(t);
  const { webhooks, clock } = start(t);
  const { timeout } = AbortSignal;
  const waits = t.capture(AbortSignal, 'timeout', (milliseconds: number) =>
    timeout.call(AbortSignal, milliseconds),
  );
  await webhooks.notify(job(receiver.url), 'completed');
  await webhooks.notify(job(receiver.url), 'completed');
  await webhooks.sender.settled();
  t.strictSame(waits()[0]?.args, [10_000], 'the time it has to answer');
  const { secret } = await webhooks.secrets.current('sub_a');
  t.match(secret, /^whsec_[\w-]{43}$/);
  const [delivered, ...more] = receiver.deliveries;
  t.strictSame(more, [], 'telling twice delivers once');
  if (delivered === undefined) throw new Error('nothing came');
  t.match(delivered.headers, {
    'content-type': 'application/json',
    'user-agent': 'Sluice-Webhooks/1.4',
    'x-service-idempotency-key': 'video_0123456789abcdef01234567-completed',
  });
  t.equal(
    delivered.body.toString(),
    '{"type":"video.generation.completed","created_at":1799999999,"data":{"id":"video_0123456789abcdef01234567",' +
      '"status":"completed","note":"ünïcode","publicUrl":"https://gateway.example/v1"}}',
  );
  t.equal(await signaturesBy(delivered, secret), 1);
  t.equal(await signaturesBy(delivered, `${secret}x`), 0);
  t.equal(countOf(delivered), 1);
  t.equal(timeOf(delivered), clock.now / 1000);
  const [row] = await webhooks.deliveries.ofJob('video_0123456789abcdef01234567');
  t.match(row?.value, { status: 'delivered', next: null, attempts: [{ status: 204, error: null }] });
  await webhooks.notify(job(receiver.url, { callback_url: null }), 'failed');
  await webhooks.sender.settled();
  t.equal(receiver.deliveries.length, 1, 'who did not ask is not told');
});

t.test('resent after 30 s, 2 min, 10 min, 1 h and 6 h with the same bytes, then given up', async (t) => {
  const receiver = await startReceiver(t);
  receiver.behave = (response) => response.writeHead(500).end('no'.repeat(100_000));
  const { webhooks, clock } = start(t);
  await webhooks.notify(job(receiver.url), 'failed');
  await webhooks.sender.settled();
  const times = [clock.now];
  for (const pause of [30_000, 120_000, 600_000, hour, 6 * hour]) {
    const before = receiver.deliveries.length;
    clock.now += pause - 1;
    await webhooks.sender.settled();
    t.equal(receiver.deliveries.length, before, `not before ${pause} ms`);
    // An attempt takes a moment; the next is counted from its end.
    clock.now += 5_000;
    await webhooks.sender.settled();
    t.equal(receiver.deliveries.length, before + 1, `after ${pause} ms`);
    times.push(clock.now);
  }
  clock.now += 100 * hour;
  await webhooks.sender.settled();
  t.equal(receiver.deliveries.length, 6);
  t.equal(new Set(receiver.deliveries.map(({ body }) => body.toString())).size, 1);
  t.strictSame(
    receiver.deliveries.map(timeOf),
    times.map((time) => Math.floor(time / 1000)),
  );
  const { secret } = await webhooks.secrets.current('sub_a');
  for (const delivered of receiver.deliveries) t.equal(await signaturesBy(delivered, secret), 1);
  const [row] = await webhooks.deliveries.list(10);
  t.match(row?.value, { status: 'given up', tries: 6, attempts: { length: 6 } });

  receiver.behave = (response) => response.writeHead(200).end();
  const id = row?.id ?? '';
  await webhooks.deliveries.resend(id);
  await webhooks.sender.settled();
  t.equal(receiver.deliveries.length, 7, 'by hand it is sent again');
  t.equal(receiver.deliveries[6]?.body.toString(), receiver.deliveries[0]?.body.toString());
  t.match((await webhooks.deliveries.list(1))[0]?.value, { status: 'delivered' });
  await t.rejects(webhooks.deliveries.resend('nothing'), { message: 'There is no delivery "nothing"' });
  clock.now += 31 * 24 * hour;
  await webhooks.sender.settled();
  t.strictSame(await webhooks.deliveries.list(10), [], 'the log is kept for a month');
});

t.test('a timeout or a status other than 2xx is a failure', async (t) => {
  const receiver = await startReceiver(t);
  const elsewhere = await startReceiver(t);
  const { webhooks } = start(t, { answerMs: 300 });
  const cases = [
    ['hangs', () => undefined, 'callback_url could not be reached in time'],
    ['redirects', (r) => r.writeHead(307, { location: elsewhere.url }).end(), 'answered 307'],
    ['closes early', (r) => r.destroy(), 'callback_url could not be reached'],
    ['refuses', (r) => r.writeHead(410).end(), 'answered 410'],
    ['says 199 and more', (r) => r.writeHead(304).end(), 'answered 304'],
  ] as const satisfies readonly (readonly [string, typeof receiver.behave, string])[];
  for (const [index, [name, behave, error]] of cases.entries()) {
    receiver.behave = behave;
    const id = `video_${String(index).padStart(24, '0')}`;
    await webhooks.notify(job(receiver.url, { id }), 'completed');
    await webhooks.sender.settled();
    const [row] = await webhooks.deliveries.ofJob(id);
    t.match(row?.value, { status: 'waiting', attempts: [{ error }] }, name);
  }
  t.strictSame(elsewhere.deliveries, [], 'no redirect is followed');
  receiver.behave = (response) => {
    response.writeHead(202, { 'content-length': '1000000' });
    response.write('never more than this');
  };
  await webhooks.notify(job(receiver.url, { id: 'video_a' }), 'completed');
  await webhooks.sender.settled();
  t.match(
    (await webhooks.deliveries.ofJob('video_a'))[0]?.value,
    { status: 'delivered' },
    'the status decides',
  );
});

t.test('a name that resolves to a private address gets no delivery', async (t) => {
  const receiver = await startReceiver(t);
  const port = new URL(receiver.url).port;
  let answers: readonly string[] = [];
  const asked: string[] = [];
  const lookup = ((name: string, _options: object, callback: (...result: unknown[]) => void) => {
    asked.push(name);
    callback(
      null,
      answers.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as NonNullable<WebhookSettings['lookup']>;
  const { webhooks } = start(t, { allowPrivate: false, lookup });
  const spellings = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', 'fd00::1', '0.0.0.0'];
  for (const [index, address] of spellings.entries()) {
    // Also hidden behind a public one, as a name that answers both does.
    answers = index % 2 === 0 ? [address] : ['93.184.216.34', address];
    const id = `video_${index}`;
    await webhooks.notify(job(`https://hooks.example:${port}/x`, { id }), 'completed');
    await webhooks.sender.settled();
    t.match((await webhooks.deliveries.ofJob(id))[0]?.value.attempts, [
      { status: null, error: 'callback_url could not be reached: its host has no public address' },
    ]);
  }
  for (const url of [
    `http://127.0.0.1:${port}/`,
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://2130706433/',
  ]) {
    await webhooks.notify(job(url, { id: `video_${url.length}x` }), 'completed');
    await webhooks.sender.settled();
  }
  t.equal(asked.length, spellings.length, 'addresses in numbers are not even looked up');
  t.strictSame(receiver.deliveries, []);
});

t.test(
  'both secrets sign for a day after a rotation; rotating twice retires the oldest at once',
  async (t) => {
    const receiver = await startReceiver(t);
    const { webhooks, clock } = start(t);
    let deliveries = 0;
    const signers = async (secrets: readonly string[]) => {
      await webhooks.notify(job(receiver.url, { id: `video_${++deliveries}` }), 'completed');
      await webhooks.sender.settled();
      const delivered = receiver.deliveries.at(-1);
      if (delivered === undefined) throw new Error('nothing came');
      const by = await Promise.all(secrets.map((secret) => signaturesBy(delivered, secret)));
      return [countOf(delivered), ...by];
    };
    const first = await webhooks.secrets.current('sub_a');
    t.match(first, { createdAt: clock.now, previousExpiresAt: undefined });
    t.strictSame(await webhooks.secrets.current('sub_a'), first, 'made once');
    t.not((await webhooks.secrets.current('sub_b')).secret, first.secret, 'for each subscription its own');
    t.strictSame(await signers([first.secret]), [1, 1]);

    clock.now += hour;
    const second = await webhooks.secrets.rotate('sub_a');
    t.match(second, { createdAt: clock.now, previousExpiresAt: clock.now + 24 * hour });
    t.strictSame(await webhooks.secrets.current('sub_a'), second);
    t.strictSame(await signers([first.secret, second.secret]), [2, 1, 1]);
    clock.now += 24 * hour - 1;
    t.strictSame(await signers([first.secret, second.secret]), [2, 1, 1], 'until the last moment');
    clock.now += 1;
    t.strictSame(await signers([first.secret, second.secret]), [1, 0, 1], 'and not after');
    t.equal((await webhooks.secrets.current('sub_a')).previousExpiresAt, undefined);

    const third = await webhooks.secrets.rotate('sub_a');
    clock.now += hour;
    const fourth = await webhooks.secrets.rotate('sub_a');
    t.strictSame(await signers([second.secret, third.secret, fourth.secret]), [2, 0, 1, 1]);

    const together = await Promise.all([1, 2, 3].map(() => webhooks.secrets.rotate('sub_a')));
    t.equal(new Set(together.map(({ secret }) => secret)).size, 3);
  },
);

t.test('an attempt after the overlap is signed with the secrets valid then', async (t) => {
  const receiver = await startReceiver(t);
  receiver.behave = (response) => response.writeHead(503).end();
  const { webhooks, clock } = start(t);
  const { secret: old } = await webhooks.secrets.current('sub_a');
  const { secret } = await webhooks.secrets.rotate('sub_a');
  clock.now += 24 * hour - 10_000;
  await webhooks.notify(job(receiver.url), 'completed');
  await webhooks.sender.settled();
  clock.now += 35_000;
  await webhooks.sender.settled();
  const [before, after] = receiver.deliveries;
  if (before === undefined || after === undefined) throw new Error('two attempts are missing');
  t.strictSame([await signaturesBy(before, old), await signaturesBy(before, secret)], [1, 1]);
  t.strictSame([await signaturesBy(after, old), await signaturesBy(after, secret)], [0, 1]);
});

t.test('several senders, one of which dies: each delivery has one sender at a time', async (t) => {
  const receiver = await startReceiver(t);
  const { webhooks, clock, another } = start(t);
  const others = [another(), another()];
  t.teardown(() => Promise.all(others.map((other) => other.close())));
  for (let index = 0; index < 40; index++)
    await webhooks.deliveries.add({
      id: `job_${index}-completed`,
      job: `job_${index}`,
      type: 'x',
      subscription: `sub_${index % 10}`,
      url: receiver.url,
      body: '{}',
    });
  await Promise.all([webhooks, ...others].map(({ sender }) => sender.settled()));
  clock.now += 5_000;
  await Promise.all([webhooks, ...others].map(({ sender }) => sender.settled()));
  t.equal(receiver.deliveries.length, 40);
  t.equal(new Set(receiver.deliveries.map(({ headers }) => headers['x-service-idempotency-key'])).size, 40);

  await webhooks.notify(job(receiver.url), 'completed');
  await webhooks.sender.settled();
  const id = 'lost-completed';
  await webhooks.deliveries.add({
    id,
    job: 'lost',
    type: 'x',
    subscription: 's',
    url: receiver.url,
    body: '{}',
  });
  const [due] = await webhooks.deliveries.due(1);
  t.ok(due && (await webhooks.deliveries.claim(due, 'a sender that dies')));
  t.equal(due && (await webhooks.deliveries.claim(due, 'another')), undefined);
  await webhooks.sender.settled();
  t.equal(receiver.deliveries.length, 41);
  clock.now += 30_000;
  await webhooks.sender.settled();
  t.equal(receiver.deliveries.length, 42, 'taken up again');
});

t.test('a hanging receiver does not block others', async (t) => {
  const receiver = await startReceiver(t);
  const stuck: (() => void)[] = [];
  receiver.behave = (response, { headers }) => {
    const end = () => response.writeHead(204).end();
    if (String(headers['x-service-idempotency-key']).startsWith('stuck')) stuck.push(end);
    else end();
  };
  const { webhooks, clock } = start(t);
  const add = (id: string, subscription: string) =>
    webhooks.deliveries.add({ id, job: id, type: 'x', subscription, url: receiver.url, body: '{}' });
  for (let index = 0; index < 100; index++) await add(`stuck_${index}`, 'sub_slow');
  await add('quick', 'sub_quick');
  webhooks.sender.wake();
  await eventually(
    () => receiver.deliveries.some(({ headers }) => headers['x-service-idempotency-key'] === 'quick'),
    'through',
  );
  t.ok(stuck.length <= 8);
  await eventually(() => {
    for (const end of stuck.splice(0)) end();
    clock.now += 500;
    webhooks.sender.wake();
    return receiver.deliveries.length === 101;
  }, 'all');
  for (const end of stuck.splice(0)) end();
});

t.test('closing releases deliveries in progress', async (t) => {
  const receiver = await startReceiver(t);
  receiver.behave = () => undefined;
  const { webhooks, another } = start(t);
  await webhooks.notify(job(receiver.url), 'completed');
  await eventually(() => receiver.deliveries.length === 1, 'asked');
  await webhooks.close();
  const [row] = await webhooks.deliveries.list(1);
  t.match(row?.value, { status: 'waiting', tries: 0, claim: null });
  receiver.behave = (response) => response.writeHead(200).end();
  const next = another();
  await next.sender.settled();
  t.equal(receiver.deliveries.length, 2);
  await next.close();
});
