/** Tests webhooks on a whole gateway: secret routes, commands and the guide's receivers. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { run } from '../../src/cli/main.ts';
import { Deliveries } from '../../src/webhooks/deliveries.ts';
import { signatureOf } from '../../src/webhooks/secrets.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { end } from '../services/child.ts';
import { picture } from '../videos/media-samples.ts';
import { startReceiver } from './receiver.ts';
import { signaturesBy } from './verify.ts';

const ask = async (gateway: TestGateway, method: string, path: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${gateway.key}` };
  const response = await fetch(`${gateway.url}${path}`, { method, headers, ...init });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

t.test('the secret routes', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const first = await ask(gateway, 'GET', '/webhooks/secret');
  t.match(first, {
    status: 200,
    body: {
      object: 'webhook.secret',
      secret: /^whsec_[\w-]{43}$/,
      signing_secret: first.body.secret,
      previous_secret_expires_at: null,
    },
  });
  t.type(first.body.created_at, 'number');
  t.strictSame(await ask(gateway, 'GET', '/webhooks/secret'), first);
  for (const body of [undefined, '{}', '']) {
    const init = body === undefined ? {} : { body };
    const rotated = await ask(gateway, 'POST', '/webhooks/secret/rotate', init);
    t.match(rotated, { status: 200, body: { object: 'webhook.secret', secret: /^whsec_/ } });
    t.equal(rotated.body.previous_secret_expires_at, Number(rotated.body.created_at) + 86_400);
    t.strictSame(await ask(gateway, 'GET', '/webhooks/secret'), rotated);
  }
  for (const [method, path] of [
    ['GET', '/webhooks/secret'],
    ['POST', '/webhooks/secret/rotate'],
  ] as const) {
    t.match(await ask(gateway, method, path, { headers: {} }), {
      status: 401,
      body: { error: { message: 'No API key provided' } },
    });
  }
  t.match(await ask(gateway, 'DELETE', '/webhooks/secret'), { status: 405 });
  t.match(await ask(gateway, 'GET', '/webhooks/secret/rotate'), { status: 405 });
  const { body: api } = await ask(gateway, 'GET', '/openapi.json');
  t.match(api.paths, { '/webhooks/secret': { get: {} }, '/webhooks/secret/rotate': { post: {} } });
});

t.test('each ending, in the form of the job object', async (t) => {
  const receiver = await startReceiver(t);
  const gateway = await startGateway({ env: { SLUICE_ALLOW_PRIVATE_URLS: '1' } });
  t.teardown(() => gateway.stop());
  const callback_url = receiver.url;
  const create = async (path: string, fields: Record<string, string | Blob>, form?: FormData) => {
    for (const [name, value] of Object.entries(fields)) form?.set(name, value);
    const type = form === undefined ? { 'content-type': 'application/json' } : undefined;
    const headers = { authorization: `Bearer ${gateway.key}`, ...type };
    const made = await ask(gateway, 'POST', path, { headers, body: form ?? JSON.stringify(fields) });
    t.match(made, { status: 202, body: { status: 'pending' } });
    return made.body;
  };
  const told = (id: unknown, ending: string) =>
    eventually(
      () =>
        receiver.deliveries.find(({ headers }) => headers['x-service-idempotency-key'] === `${id}-${ending}`),
      `${id} ${ending}`,
    );
  const checkTold = async (path: string, id: unknown, ending: string, data: object) => {
    const delivered = await told(id, ending);
    const { body: record } = await ask(gateway, 'GET', `${path}/${id}`);
    const event = JSON.parse(delivered.body.toString());
    t.match(record, { status: ending, ...data });
    const kind = path === '/music' ? 'music' : 'video';
    t.strictSame(event, {
      type: `${kind}.generation.${ending}`,
      created_at: event.created_at,
      data: record,
    });
    t.ok(Number.isInteger(event.created_at) && event.created_at >= Number(record.created_at));
    const { body: signing } = await ask(gateway, 'GET', '/webhooks/secret');
    t.equal(await signaturesBy(delivered, String(signing.secret)), 1);
  };

  const song = { model: 'sluice/music', prompt: '/sim render=0s', duration: '5', response_format: 'wav' };
  const { id: done } = await create('/music', { ...song, callback_url });
  await checkTold('/music', done, 'completed', {
    unsigned_urls: [`${gateway.url}/music/${done}/content?index=0`],
  });

  const clip = { model: 'sluice/video', callback_url };
  const { id: failed } = await create('/videos', { ...clip, prompt: '/sim render=0s fail=timeout@0%' });
  await checkTold('/videos', failed, 'failed', {
    error: 'Simulated failure timeout',
    error_code: 'timeout',
  });

  const fields = { prompt: '/sim render=60s', seconds: '5', size: '768x768', generate_audio: 'false' };
  const frame = new File([await picture('png')], 'first.png');
  const waiting = await create('/videos', { ...clip, ...fields, input_reference: frame }, new FormData());
  t.match(waiting, { duration: 5, seconds: '5', size: '768x768', generate_audio: false });
  const cancelled = await ask(gateway, 'DELETE', `/videos/${waiting.id}`);
  t.match(cancelled, { status: 200, body: { status: 'cancelled' } });
  await checkTold('/videos', waiting.id, 'cancelled', cancelled.body);
  t.equal(receiver.deliveries.length, 3);
});

t.test('sluice webhooks list and resend', async (t) => {
  const receiver = await startReceiver(t);
  receiver.behave = (response) => response.writeHead(503).end();
  const gateway = await startGateway({ env: { SLUICE_ALLOW_PRIVATE_URLS: '1' } });
  t.teardown(() => gateway.stop());
  const id = 'video_0123456789abcdef01234567-failed';
  const deliveries = new Deliveries(gateway.ports.state);
  const event = { job: id.slice(0, -7), type: 'video.generation.failed', subscription: 'sub_x', body: '{}' };
  await deliveries.add({ id, url: receiver.url, ...event });
  await eventually(async () => (await deliveries.list(1))[0]?.value.attempts.length === 1, 'tried');
  t.intercept(process, 'env', { value: { SLUICE_DATA: join(gateway.folder, 'data') } });
  const sluice = async (...words: string[]) => {
    const out = t.capture(process.stdout, 'write', () => true);
    const err = t.capture(process.stderr, 'write', () => true);
    const status = await run(['webhooks', ...words]);
    const joined = (calls: { args: unknown[] }[]) => calls.map(({ args }) => String(args[0])).join('');
    const result = { status, stdout: joined(out()), stderr: joined(err()) };
    out.restore();
    err.restore();
    return result;
  };
  const listed = await sluice('list');
  t.match(listed, { status: 0, stderr: '' });
  t.match(listed.stdout, new RegExp(`^DELIVERY.*\n${id} +waiting +1 +answered 503 +.*${receiver.url}`));
  t.match(await sluice('list', event.job), {
    status: 0,
    stdout: /waiting, to .*\n.*answered 503 after \d+ ms\n {2}next at /,
  });
  receiver.behave = (response) => response.writeHead(200).end();
  t.match(await sluice('resend', id), { status: 0, stdout: `${id} will be sent to ${receiver.url}.\n` });
  await eventually(async () => (await deliveries.list(1))[0]?.value.status === 'delivered', 'taken');
  t.match(JSON.parse((await sluice('list', '--json')).stdout), [
    { id, status: 'delivered', attempts: [{ status: 503 }, { status: 200, error: null }] },
  ]);
  t.match(await sluice('resend', 'nothing'), { status: 1, stderr: /There is no delivery "nothing"/ });
  t.match(await sluice('list', '--limit', 'x'), { status: 2 });
});

/** The code block of a language in the guide. */
const guide = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
const example = (language: string): string =>
  new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';

const secret = 'whsec_of_a_test';

const startExample = async (t: Test, program: string, args: readonly string[]) => {
  const child: ChildProcess = spawn(program, args, {
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => end(child, 'SIGKILL'));
  const lines: string[] = [];
  if (child.stdout !== null) createInterface(child.stdout).on('line', (line) => lines.push(line));
  const port = await eventually(() => /listening.*\D(\d{4,5})\b/.exec(lines.join(' '))?.[1], 'it listens');
  return {
    url: `http://127.0.0.1:${port}/`,
    said: () => lines.filter((line) => !/listening|port:/.test(line)),
  };
};

const checkExample = async (t: Test, program: string, args: readonly string[]): Promise<void> => {
  const { url, said } = await startExample(t, program, args);
  const body =
    '{"type":"video.generation.completed","created_at":1,"data":{"id":"video_ü","status":"completed"}}';
  const send = async (key: string, signature: string, sent = body): Promise<number> => {
    const headers = {
      'content-type': 'application/json',
      'x-service-signature': signature,
      'x-service-idempotency-key': key,
    };
    return (await fetch(url, { method: 'POST', headers, body: sent })).status;
  };
  const now = Math.floor(Date.now() / 1000);
  t.equal(await send('a', signatureOf(body, now, [secret])), 204);
  t.equal(await send('a', signatureOf(body, now, [secret])), 204, 'a repeated key is taken and ignored');
  t.equal(await send('b', signatureOf(body, now, ['whsec_new', secret])), 204, 'during a rotation');
  t.equal(await send('c', signatureOf(body, now, ['whsec_other'])), 400, 'another secret');
  t.equal(await send('c', signatureOf(body, now - 400, [secret])), 400, 'too old');
  t.equal(await send('c', signatureOf(body, now + 400, [secret])), 400, 'from the future');
  t.equal(
    await send('c', signatureOf(body, now, [secret]), body.replace('completed', 'failed')),
    400,
    'changed',
  );
  for (const nonsense of ['', 't=', `t=${now}`, `t=${now},v1=`, `t=${now},v1=zz`, 'v1=00', ',,,===='])
    t.equal(await send('c', nonsense), 400, nonsense);
  await eventually(() => said().length === 2, 'two told');
  t.strictSame(said(), Array(2).fill('video.generation.completed video_ü completed'));
};

t.test('the receiver in TypeScript', async (t) => {
  const file = join(t.testdir(), 'receiver.ts');
  writeFileSync(file, example('ts'));
  await checkExample(t, process.execPath, ['--import=tsx', file]);
});

const python = spawnSync('python3', ['--version']).status === 0;
t.test('the receiver in Python', { skip: python ? false : 'no python3 on PATH' }, async (t) => {
  const file = join(t.testdir(), 'receiver.py');
  writeFileSync(file, example('python'));
  await checkExample(t, 'python3', [file]);
});
