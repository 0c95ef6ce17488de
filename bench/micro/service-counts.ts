/**
 * Counts what a request costs in Redis, Kafka, ClickHouse and on disk: `npx tsx bench/micro/service-counts.ts [name …]`.
 * Counts and bytes do not depend on other load, and CPU time of Redis does a little. Services that are not available
 * are reported and skipped.
 */
import { randomBytes } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { firstValueFrom } from 'rxjs';
import { createRedisAdmission } from '../../src/adapters/admission/redis.ts';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { openClickHouseLedger } from '../../src/adapters/ledger/clickhouse.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { eventJson } from '../../src/billing/event-json.ts';
import { LineEncoder } from '../../src/billing/journal/line.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import { usageEvent } from '../../test/billing/usage-events.ts';
import { startGateway } from '../../test/gateway.ts';
import { clickHouseMissing, startClickHouse } from '../../test/services/clickhouse.ts';
import { kafkaMissing, startKafka } from '../../test/services/kafka.ts';
import { redisMissing, startRedis } from '../../test/services/redis.ts';
import { figure } from '../report.ts';

const log = pino({ level: 'silent' });

const say = (name: string, value: number, unit: string): void => {
  process.stdout.write(`${name.padEnd(64)} ${figure(value).padStart(9)} ${unit}\n`);
};

// ── Redis ────────────────────────────────────────────────────────────────────────────────────────

interface RedisWork {
  readonly scripts: number;
  /** Those within scripts included. */
  readonly commands: number;
  /** Slots and queue positions that were taken or renewed. */
  readonly leases: number;
  /** CPU time of its process, reading and writing included. */
  readonly microseconds: number;
  /** In both directions. */
  readonly bytes: number;
}

const redisWork = async (admin: Redis, work: () => Promise<unknown>): Promise<RedisWork> => {
  const cpuTime = async (): Promise<number> =>
    [...(await admin.info('cpu')).matchAll(/used_cpu_(?:sys|user):([\d.]+)/g)].reduce(
      (sum, [, seconds]) => sum + 1e6 * Number(seconds),
      0,
    );
  await admin.config('RESETSTAT');
  const before = await cpuTime();
  await work();
  const microseconds = (await cpuTime()) - before;
  const stats = await admin.info('commandstats');
  const traffic = await admin.info('stats');
  const of = (pattern: RegExp): number =>
    [...stats.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
  const bytes = [...traffic.matchAll(/total_net_(?:in|out)put_bytes:(\d+)/g)];
  const own = of(/cmdstat_(?:config|info)\S*:calls=(\d+)/g);
  const scripts = of(/cmdstat_evalsha:calls=(\d+)/g);
  return {
    scripts,
    commands: of(/cmdstat_\S+:calls=(\d+)/g) - scripts - own,
    leases: of(/cmdstat_zadd:calls=(\d+)/g),
    microseconds,
    bytes: bytes.reduce((sum, [, value]) => sum + Number(value), 0),
  };
};

const sayRedis = (name: string, per: number, work: RedisWork, idle?: RedisWork): void => {
  const each = (key: keyof RedisWork): number => (work[key] - (idle?.[key] ?? 0)) / per;
  say(`${name}: scripts`, each('scripts'), '');
  say(`${name}: commands in and beside them`, each('commands'), '');
  say(`${name}: CPU time of Redis`, each('microseconds'), 'µs');
  say(`${name}: both directions`, each('bytes'), 'bytes');
};

const idleSeconds = 12;
const catalog = `
models:
  a/plain: { engine: simulator, context_length: 65536, limits: { concurrency: 1000, requests_per_minute: 1000000 } }
  a/tokens:
    engine: simulator
    context_length: 65536
    limits: { concurrency: 1000, requests_per_minute: 1000000, tokens_per_minute: 100000000 }
`;

const gatewayInRedis = async (): Promise<void> => {
  const service = await startRedis({ own: true });
  const admin = new Redis(service.url);
  const gateway = await startGateway({ catalog, env: { REDIS_URL: service.url } });
  const ask = async (model: string): Promise<void> => {
    const response = await fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 4, messages: [{ role: 'user', content: 'hello' }] }),
    });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
  };
  const many = async (model: string, count: number): Promise<void> => {
    for (let done = 0; done < count; done++) await ask(model);
  };
  await many('a/plain', 20);
  await many('a/tokens', 20);
  const idle = await redisWork(admin, () => delay(1000 * idleSeconds));
  sayRedis('Redis, an idle process, per second', idleSeconds, idle);
  for (const [model, name] of [
    ['a/plain', 'Redis, a request'],
    ['a/tokens', 'Redis, a request whose tokens are limited'],
  ] as const) {
    const started = performance.now();
    const work = await redisWork(admin, () => many(model, 300));
    const share = (performance.now() - started) / 1000 / idleSeconds;
    const scaled = Object.fromEntries(Object.entries(idle).map(([key, value]) => [key, value * share]));
    sayRedis(name, 300, work, scaled as unknown as RedisWork);
  }
  await gateway.stop();
  admin.disconnect();
  await service.stop();
};

/** One process holds a lease of each of so many subscriptions, as a gateway of a large fleet does. */
const heldLeases = 780;

const leasesInRedis = async (): Promise<void> => {
  const service = await startRedis({ own: true });
  const admin = new Redis(service.url);
  const admission = createRedisAdmission(service.url, { prefix: 'bench:', log });
  await admission.check();
  const idle = await redisWork(admin, () => delay(1000 * idleSeconds));
  const limits = { concurrency: 100, requests_per_minute: 1000 };
  const held = await Promise.all(
    Array.from({ length: heldLeases }, (_, index) =>
      firstValueFrom(emitted(admission.admit({ subscription: `sub_${index}`, model: 'a/b', limits }))),
    ),
  );
  const work = await redisWork(admin, () => delay(1000 * idleSeconds));
  // Those of heartbeats.
  sayRedis('Redis, a lease that is renewed', work.leases - idle.leases, work, idle);
  for (const lease of held) lease.release();
  await admission.close();
  admin.disconnect();
  await service.stop();
};

// ── usage events ─────────────────────────────────────────────────────────────────────────────────

const count = 20_000;
/** Names and numbers as long as those of a stream in production. */
const events = Array.from({ length: count }, (_, index) =>
  usageEvent({
    subscription: `sub_${String(index % 100).padStart(24, '0')}`,
    key: `key_${String(index % 200).padStart(24, '0')}`,
    model: 'acme/writer-large',
    engine: 'engine-large',
    time: Date.now() + index,
    quantities: {
      prompt_tokens: 1200 + (index % 700),
      completion_tokens: 200,
      cached_tokens: 512,
      reasoning_tokens: 0,
    },
    generated_tokens: 200,
    delivered_tokens: 200,
    cost: '0.001234',
    queued_ms: 12,
    first_token_ms: 310,
    total_ms: 10_120,
  }),
);

/** Bytes that this process has written to a port so far. */
const sockets = new Set<Socket>();
subscribe('net.client.socket', (message) => sockets.add((message as { socket: Socket }).socket));
const writtenTo = (port: number): number =>
  [...sockets].reduce((sum, socket) => sum + (socket.remotePort === port ? socket.bytesWritten : 0), 0);

const text = async (): Promise<void> => {
  const lines = new LineEncoder();
  const json = events.reduce((sum, event) => sum + Buffer.byteLength(eventJson(event)), 0);
  const line = events.reduce((sum, event) => sum + lines.encode([event], eventJson).length, 0);
  say('a usage event as JSON', json / count, 'bytes');
  say('a usage event in the journal', line / count, 'bytes');
};

const embedded = async (): Promise<void> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-bench-counts-'));
  const ledger = openLibsqlLedger(path.join(folder, 'ledger.db'));
  for (let at = 0; at < count; at += 500) await ledger.insert(events.slice(at, at + 500));
  await ledger.close();
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
  rmSync(folder, { recursive: true, force: true });
  say('a usage event in the embedded ledger, 5 of a subscription at once', bytes / count, 'bytes');
};

const kafka = async (): Promise<void> => {
  const service = await startKafka({ own: true });
  const port = Number(service.brokers.split(':')[1]);
  const prefix = `bench-${randomBytes(4).toString('hex')}`;
  const published = createKafkaEvents({ brokers: [service.brokers], prefix }, log);
  const messages = events.map((event) => ({ key: event.subscription, value: eventJson(event) }));
  await published.publish('usage', messages.slice(0, 200));
  for (const size of [20, 200]) {
    const before = writtenTo(port);
    for (let at = 0; at < 4_000; at += size) await published.publish('usage', messages.slice(at, at + size));
    say(
      `a usage event to Kafka, ${size} at a time over 12 partitions`,
      (writtenTo(port) - before) / 4_000,
      'bytes',
    );
  }
  await published.close();
  await service.stop();
};

const clickHouse = async (): Promise<void> => {
  const service = await startClickHouse({ own: true });
  const port = Number(new URL(service.url).port);
  const ledger = openClickHouseLedger(`${service.url}/sluice_bench`);
  await ledger.insert(events.slice(0, 10));
  const size = 1500;
  const before = writtenTo(port);
  for (let at = 0; at < 6_000; at += size) await ledger.insert(events.slice(at, at + size));
  say(`a row to ClickHouse, ${size} per insert`, (writtenTo(port) - before) / 6_000, 'bytes');
  await ledger.close();
  await service.stop();
};

const cases: Record<string, { missing?: string | undefined; run: () => Promise<void> }> = {
  event: { run: text },
  embedded: { run: embedded },
  redis: { missing: redisMissing({ own: true }), run: gatewayInRedis },
  leases: { missing: redisMissing({ own: true }), run: leasesInRedis },
  kafka: { missing: kafkaMissing({ own: true }), run: kafka },
  clickhouse: { missing: clickHouseMissing({ own: true }), run: clickHouse },
};

const chosen = process.argv.slice(2);
for (const [name, { missing, run }] of Object.entries(cases)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  if (missing === undefined) await run();
  else process.stdout.write(`${name}: ${missing}\n`);
}
process.exit(0);
