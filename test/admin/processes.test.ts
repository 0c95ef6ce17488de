/** Tests probes and metrics of processes that serve no clients, and checks that time out. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import type { Model } from '../../schemas/catalog.ts';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { watchLag } from '../../src/adapters/events/kafka-lag.ts';
import { gatewayChecks, workerChecks } from '../../src/admin/checks.ts';
import { createReadiness } from '../../src/admin/readiness.ts';
import { startBilling } from '../../src/billing.ts';
import { loadConfig } from '../../src/config.ts';
import { startWorker } from '../../src/worker.ts';
import { usageEvent } from '../billing/usage-events.ts';
import { eventually } from '../eventually.ts';
import { kafkaMissing, startKafka } from '../services/kafka.ts';
import { redisMissing, startRedis } from '../services/redis.ts';

type Needing = Pick<Model, 'kind' | 'engine'>;

const log = pino({ level: 'silent' });

const get = async (url: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};

const folder = mkdtempSync(join(tmpdir(), 'sluice-admin-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

t.test('readiness checks run in parallel and time out', async (t) => {
  const readiness = createReadiness(
    {
      fine: () => Promise.resolve(),
      silent: () => new Promise(() => undefined),
      thrown: () => {
        throw new Error('full');
      },
      rejected: () => Promise.reject(new Error('away')),
    },
    20,
  );
  const reasons = ['silent: no answer for 20 ms', 'thrown: full', 'rejected: away'];
  t.strictSame(await readiness.unready(), ['process: starting', ...reasons]);
  readiness.started();
  t.strictSame(await readiness.unready(), reasons);
  readiness.stopping();
  t.strictSame(await readiness.unready(), ['process: shutting down', ...reasons]);
});

t.test('engines that models need', async (t) => {
  const starting = 'process: starting';
  const parts = (health: 'ok' | 'down', resting: readonly boolean[], models: readonly Needing[]) => ({
    state: { check: async () => undefined },
    usage: { ensureOpen: () => undefined },
    blobs: { check: async () => undefined },
    catalog: { list: () => [], inService: () => models },
    engines: {
      health: () => ({ simulator: 'ok' as const, pool: health }),
      stats: () =>
        new Map([['pool', { replicas: resting.map((each) => ({ circuit: each ? 'open' : 'half-open' })) }]]),
    },
  });
  const chat = (engine: string): Needing => ({ kind: 'chat', engine });

  t.test('a gateway is ready while one engine is available', async (t) => {
    const asked = (health: 'ok' | 'down', resting: readonly boolean[], models = ['pool']) =>
      createReadiness(gatewayChecks(parts(health, resting, models.map(chat)))).unready();
    t.strictSame(await asked('ok', [false, true]), [starting]);
    t.strictSame(await asked('down', [true, true]), [starting, 'engines: all are down']);
    t.strictSame(await asked('down', [true, false]), [starting], 'one may be tried again');
    t.strictSame(await asked('down', [true], ['pool', 'simulator']), [starting], 'another engine');
    t.strictSame(await asked('down', [true], []), [starting], 'no models, no engines');
  });

  t.test('a worker needs only video and music engines', async (t) => {
    const asked = (...models: readonly Needing[]) =>
      createReadiness(workerChecks(parts('down', [true], models))).unready();
    const down = [starting, 'engines: all are down'];
    t.strictSame(await asked({ kind: 'video', engine: 'pool' }, chat('simulator')), down);
    t.strictSame(await asked({ kind: 'music', engine: 'simulator' }, chat('pool')), [starting]);
    t.strictSame(await asked(chat('pool')), [starting]);
  });
});

t.test('a process beside a gateway has an admin port only if configured', async (t) => {
  t.match(loadConfig({}).admin, { port: 9787, chosen: false });
  t.match(loadConfig({ SLUICE_ADMIN_PORT: '9000' }).admin, { port: 9000, chosen: true });
  await t.rejects(startBilling(loadConfig({}), log), { message: /^KAFKA_BROKERS is not set: / });
});

t.test('billing while Kafka is unavailable', async (t) => {
  const config = loadConfig({ SLUICE_DATA: folder, KAFKA_BROKERS: '127.0.0.1:1', SLUICE_ADMIN_PORT: '0' });
  const billing = await startBilling(config, log);
  t.strictSame(await get(`${billing.adminUrl}/livez`), { status: 200, text: 'ok\n' });
  t.strictSame(await get(`${billing.adminUrl}/readyz`), {
    status: 503,
    text: 'kafka: usage cannot be read\n',
  });
  const { text } = await get(`${billing.adminUrl}/metrics`);
  for (const line of [
    'sluice_usage_reading 0',
    'sluice_usage_batches_total 0',
    'sluice_usage_dead_letters_total 0',
  ])
    t.ok(text.split('\n').includes(line), line);
  await billing.stop();
});

t.test('a worker', { skip: redisMissing({ own: true }) ?? false }, async (t) => {
  const redis = await startRedis({ own: true });
  t.teardown(() => redis.stop());
  const env = { SLUICE_DATA: join(folder, 'worker'), REDIS_URL: redis.url, SLUICE_ADMIN_PORT: '0' };
  const worker = await startWorker(loadConfig(env), log);
  t.strictSame(await get(`${worker.adminUrl}/readyz`), { status: 200, text: 'ok\n' });
  const { text } = await get(`${worker.adminUrl}/metrics`);
  for (const line of [
    'sluice_renders 0',
    'sluice_render_slots 4',
    'sluice_webhook_attempts_ended_total{outcome="delivered"} 0',
  ])
    t.ok(text.split('\n').includes(line), line);
  await redis.stop();
  const away = await get(`${worker.adminUrl}/readyz`);
  t.equal(away.status, 503);
  t.match(away.text, /^storage: /);
  await worker.stop();
});

t.test('consumer lag of billing', { skip: kafkaMissing() ?? false }, async (t) => {
  const kafka = await startKafka();
  t.teardown(() => kafka.stop());
  const config = loadConfig({
    SLUICE_DATA: join(folder, 'billing'),
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_PREFIX: `sluice-admin-${process.pid}`,
    SLUICE_ADMIN_PORT: '0',
  });
  if (config.kafka === undefined) throw new Error('no Kafka');
  const events = createKafkaEvents(config.kafka, log);
  const { subscription } = usageEvent({});
  const texts = [...Array.from({ length: 3 }, () => JSON.stringify(usageEvent({}))), '{"schema":9}'];
  await events.publish(
    'usage',
    texts.map((value) => ({ key: subscription, value })),
  );
  await events.close();
  const watch = watchLag(config.kafka, { topic: 'usage', group: 'billing', log, everyMs: 50 });
  const behind = (): number => watch.lag.reduce((sum, { messages }) => sum + messages, 0);
  t.ok(await eventually(() => behind() === 4), 'nobody reads');
  const billing = await startBilling(config, log);
  t.ok(await eventually(() => watch.lag.length > 0 && behind() === 0), 'all is read');
  t.ok(await eventually(async () => (await get(`${billing.adminUrl}/readyz`)).status === 200));
  const { text } = await get(`${billing.adminUrl}/metrics`);
  for (const line of [
    'sluice_usage_reading 1',
    'sluice_usage_messages_total 4',
    'sluice_usage_dead_letters_total 1',
    'sluice_usage_retries_total 0',
  ])
    t.ok(text.split('\n').includes(line), line);
  await billing.stop();
  await watch.close();
});
