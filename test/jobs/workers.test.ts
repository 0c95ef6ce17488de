/** Tests worker processes over Redis: killed at every step, Redis restarts and remote cancellation. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openAccounts } from '../../src/accounts.ts';
import { openBlobs } from '../../src/adapters/blobs/open.ts';
import { openRedisState } from '../../src/adapters/state/redis.ts';
import { loadConfig } from '../../src/config.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { Deliveries } from '../../src/webhooks/deliveries.ts';
import { startWorker } from '../../src/worker.ts';
import { eventually, patiently } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { noQuotas } from '../no-quotas.ts';
import { end } from '../services/child.ts';
import { type RedisService, redisMissing, startRedis } from '../services/redis.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { crashPoints } from './crash-points.ts';
import { newId, owner, videoJob } from './harness.ts';
import { trustingCodec } from './trusting-codec.ts';

/** Processes start slowly on a busy machine. */
t.setTimeout(patiently(300_000));
const log = pino({ level: 'silent' });
const skip = redisMissing({ own: true }) ?? false;
const endings = new Set(['completed', 'failed', 'cancelled']);

/** A gateway that renders nothing itself, in this process, and workers beside it. */
const start = async (t: Test, redis: RedisService) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-workers-'));
  const env = { SLUICE_DATA: folder, REDIS_URL: redis.url, SLUICE_WORKERS: '1' };
  const config = loadConfig(env);
  const state = openRedisState(redis.url);
  const receiver = await startReceiver(t);
  const blobs = await openBlobs(config, { state, log, publicUrl: () => '' });
  const workers = new Set<ChildProcess>();
  const lines: string[] = [];
  const jobs = createJobs(
    {
      state,
      blobs,
      codec: trustingCodec,
      catalog: { list: () => [], inService: unused, resolve: unused, find: unused, findPublic: unused },
      engines: { of: unused, health: unused, close: async () => undefined },
      usage: { record: unused, ensureOpen: unused, close: async () => undefined },
      quotas: noQuotas,
      notify: async ({ job }, ending) => {
        const id = `${job.id}-${ending}`;
        const { subscription } = job;
        await new Deliveries(state).add({
          id,
          job: job.id,
          type: ending,
          subscription,
          url: receiver.url,
          body: '{}',
        });
      },
      publicUrl: () => 'http://gateway/v1',
      log,
    },
    { renders: 0, keptMs: 3_600_000, longestMs: 60_000, maintenanceMs: 3_600_000 },
  );
  t.teardown(async () => {
    for (const worker of workers) await end(worker, 'SIGKILL');
    await jobs.close();
    await blobs.close();
    await state.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const startWorker = (renderMs: number, crashPoint?: string): ChildProcess => {
    const worker = spawn(process.execPath, ['--import=tsx', join(import.meta.dirname, 'worker-process.ts')], {
      env: {
        ...process.env,
        ...env,
        TEST_RENDER_MS: String(renderMs),
        ...(crashPoint === undefined ? {} : { TEST_CRASH_POINT: crashPoint }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    workers.add(worker);
    if (worker.stdout !== null) createInterface(worker.stdout).on('line', (line) => lines.push(line));
    return worker;
  };
  const create = async (): Promise<string> => {
    const id = newId('video');
    await jobs.create(videoJob({ id, callbackUrl: receiver.url }));
    return id;
  };
  const statusOf = async (id: string) => (await jobs.get('video', id, owner)).job.status;
  const ended = (ids: readonly string[]) =>
    eventually(
      async () => (await Promise.all(ids.map(statusOf))).every((status) => endings.has(status)),
      'all jobs ended',
      60,
    );
  const delivered = (count: number) =>
    eventually(() => keysOf(receiver.deliveries).length === count, 'all endings delivered', 60);
  /** What the ledger counts after the journals of the dead were shipped, too. */
  const charges = async (): Promise<string[]> => {
    for (const worker of workers) await end(worker, 'SIGTERM');
    const accounts = await openAccounts(config, log);
    await accounts.usage.ship();
    const events = await accounts.ledger.list({ from: 0, to: Number.MAX_SAFE_INTEGER }, { limit: 1_000 });
    await accounts.close();
    return events.map(({ id }) => id).sort();
  };
  return { jobs, blobs, receiver, lines, startWorker, create, statusOf, ended, delivered, charges };
};

const unused = (): never => {
  throw new Error('not used here');
};

const keysOf = (deliveries: readonly { headers: Record<string, unknown> }[]): string[] =>
  [...new Set(deliveries.map(({ headers }) => String(headers['x-service-idempotency-key'])))].sort();

t.test(
  'workers killed at every step neither lose nor duplicate jobs, charges and deliveries',
  { skip },
  async (t) => {
    const redis = await startRedis({ own: true, persist: true });
    t.teardown(() => redis.stop());
    const harness = await start(t, redis);
    const ids: string[] = [];
    for (let count = 0; count < crashPoints.length + 1; count++) ids.push(await harness.create());
    const doomed = crashPoints.map(({ name }) => ({ name, worker: harness.startWorker(100, name) }));
    for (const { name, worker } of doomed) {
      const [, signal] = worker.signalCode === null ? await once(worker, 'exit') : [null, worker.signalCode];
      t.equal(signal, 'SIGKILL', name);
    }
    harness.startWorker(100);
    await harness.ended(ids);
    await harness.delivered(ids.length);
    const statuses = await Promise.all(ids.map(harness.statusOf));
    t.strictSame(
      keysOf(harness.receiver.deliveries),
      ids.map((id, index) => `${id}-${statuses[index]}`).sort(),
    );
    const completed = ids.filter((_, index) => statuses[index] === 'completed');
    t.ok(completed.length >= ids.length - 2, 'only a job that killed four workers fails');
    t.strictSame(await harness.charges(), completed.map((id) => `usage_${id}`).sort());
    for (const id of completed) {
      const { job } = await harness.jobs.get('video', id, owner);
      t.match(await harness.blobs.stat(job.outputs[0]?.blob ?? ''), { size: `video of ${id}`.length });
    }
  },
);

t.test('Redis restarted during renders', { skip }, async (t) => {
  const redis = await startRedis({ own: true, persist: true });
  t.teardown(() => redis.stop());
  const harness = await start(t, redis);
  const ids: string[] = [];
  for (let count = 0; count < 4; count++) ids.push(await harness.create());
  const workers = [harness.startWorker(1_000), harness.startWorker(1_000)];
  // One that starts without Redis gives up.
  await eventually(
    () => harness.lines.filter((line) => line.startsWith('ready')).length === 2,
    'two workers',
  );
  for (let restart = 0; restart < 2; restart++) {
    await eventually(
      () => harness.lines.filter((line) => line.startsWith('started')).length > restart,
      'one renders',
    );
    await redis.restart();
  }
  await harness.ended(ids);
  await harness.delivered(ids.length);
  t.strictSame(
    await Promise.all(ids.map(harness.statusOf)),
    ids.map(() => 'completed'),
  );
  t.strictSame(await harness.charges(), ids.map((id) => `usage_${id}`).sort());
  for (const worker of workers) t.equal(worker.exitCode, 0, 'it went on, and ended when it was asked to');
});

t.test('DELETE on one process stops the render on another within 10 s, unbilled', { skip }, async (t) => {
  const redis = await startRedis({ own: true });
  t.teardown(() => redis.stop());
  const harness = await start(t, redis);
  const worker = harness.startWorker(60_000);
  const id = await harness.create();
  await eventually(() => harness.lines.includes(`started ${id}`), 'it renders');
  t.match(await harness.jobs.remove('video', id, owner), { job: { status: 'cancelled' } });
  await eventually(() => harness.lines.includes(`stopped ${id}`), 'it stops');
  await harness.delivered(1);
  t.strictSame(keysOf(harness.receiver.deliveries), [`${id}-cancelled`]);

  const handed = await harness.create();
  await eventually(() => harness.lines.includes(`started ${handed}`), 'it renders');
  await end(worker, 'SIGTERM');
  t.equal(await harness.statusOf(handed), 'in_progress', 'given back in good order');
  harness.startWorker(50);
  await harness.ended([handed]);
  t.match(await harness.jobs.get('video', handed, owner), {
    job: { status: 'completed', attempts: 2, lapses: 0 },
  });
  t.strictSame(await harness.charges(), [`usage_${handed}`]);
});

t.test('sluice worker renders the jobs of a gateway, which streams its songs', { skip }, async (t) => {
  const redis = await startRedis({ own: true });
  t.teardown(() => redis.stop());
  const receiver = await startReceiver(t);
  const env = { REDIS_URL: redis.url, SLUICE_ALLOW_PRIVATE_URLS: '1' };
  const gateway = await startGateway({ env: { ...env, SLUICE_WORKERS: '0' } });
  t.teardown(() => gateway.stop());
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  const worker = spawn(process.execPath, ['--import=tsx', main, 'worker'], {
    env: { ...process.env, ...env, SLUICE_DATA: join(gateway.folder, 'data') },
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  t.teardown(() => end(worker, 'SIGKILL'));
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const created = await fetch(`${gateway.url}/music`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      model: 'sluice/music',
      prompt: '/sim render=1s\na waltz',
      duration: 10,
      callback_url: receiver.url,
    }),
  });
  t.equal(created.status, 202);
  const job = (await created.json()) as { id: string; stream_url: string; polling_url: string };
  const song = Buffer.from(await (await fetch(job.stream_url, { headers })).arrayBuffer());
  t.equal(song.subarray(0, 4).toString(), 'RIFF');
  t.ok(song.length > 32_000 * 4, 'more than a second of it');
  await eventually(() => receiver.deliveries.length === 1, 'notified');
  t.strictSame(keysOf(receiver.deliveries), [`${job.id}-completed`]);
  const record = await (await fetch(job.polling_url, { headers })).json();
  t.match(record, { status: 'completed', usage: { billed_seconds: 10 } });
  t.strictSame(
    JSON.parse(receiver.deliveries[0]?.body.toString() ?? '').data,
    record,
    'as a client reads it',
  );
  await end(worker, 'SIGTERM');
  t.equal(worker.exitCode, 0);
});

t.test('invalid settings are refused with one sentence', async (t) => {
  t.throws(() => loadConfig({ SLUICE_WORKERS: '0' }), { message: /^SLUICE_WORKERS=0 leaves renders to / });
  await t.rejects(startWorker(loadConfig({}), log), { message: /^REDIS_URL is not set: / });
  const config = loadConfig({ SLUICE_WORKERS: '0', REDIS_URL: 'redis://127.0.0.1:1' });
  await t.rejects(startWorker(config, log), { message: /^SLUICE_WORKERS is 0: / });
});
