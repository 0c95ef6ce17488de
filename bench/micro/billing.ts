/**
 * Measures CPU time per usage event and events per second: `npx tsx bench/micro/billing.ts [name …]`. Services that are
 * not available are reported and skipped.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import type { Observable } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { subscribeKafka } from '../../src/adapters/events/kafka-subscription.ts';
import { createLocalEvents } from '../../src/adapters/events/local.ts';
import { openClickHouseLedger } from '../../src/adapters/ledger/clickhouse.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { eventJson } from '../../src/billing/event-json.ts';
import { openDamage } from '../../src/billing/journal/damage.ts';
import { JournalWriter } from '../../src/billing/journal/writer.ts';
import { receiveUsage } from '../../src/billing/receive-usage.ts';
import { openUsageLog } from '../../src/billing/usage-log.ts';
import type { Events } from '../../src/ports/events.ts';
import { usageEvent } from '../../test/billing/usage-events.ts';
import { clickHouseMissing, startClickHouse } from '../../test/services/clickhouse.ts';
import { kafkaMissing, startKafka } from '../../test/services/kafka.ts';
import { figure } from '../report.ts';

const log = pino({ level: 'silent' });
const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-bench-billing-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const newEvents = (count: number): UsageEvent[] => {
  const run = randomBytes(12).toString('hex');
  return Array.from({ length: count }, (_, n) => {
    const id = `req_${run}${n.toString(36)}`;
    return usageEvent({
      id: `usage_${id}`,
      request_id: id,
      subscription: `sub_${(n % 10).toString().padStart(24, '0')}`,
      key: `key_${(n % 20).toString().padStart(24, '0')}`,
      time: Date.now(),
    });
  });
};

const cpuMicroseconds = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const measure = async (name: string, count: number, work: () => Promise<unknown>): Promise<void> => {
  const [cpu, started] = [cpuMicroseconds(), performance.now()];
  await work();
  const seconds = (performance.now() - started) / 1000;
  const each = figure((cpuMicroseconds() - cpu) / count);
  process.stdout.write(
    `${name.padEnd(56)} ${each.padStart(8)} µs, ${Math.round(count / seconds)
      .toString()
      .padStart(8)}/s\n`,
  );
};

/** A busy event loop: this many requests end per tick. */
const perTurn = 64;

const keepAll = async (
  events: readonly UsageEvent[],
  record: (event: UsageEvent) => Observable<void>,
): Promise<void> => {
  for (let i = 0; i < events.length; i += perTurn)
    await new Promise<void>((resolve, reject) => {
      const some = events.slice(i, i + perTurn);
      let left = some.length;
      const complete = (): void => {
        if (--left === 0) resolve();
      };
      for (const event of some) record(event).subscribe({ complete, error: reject });
    });
};

const journal = async (): Promise<void> => {
  const writer = new JournalWriter({
    folder: path.join(folder, 'journal'),
    log,
    damage: openDamage(folder, log),
    json: eventJson,
    sync: { intervalMs: 100 },
  });
  const record = (event: UsageEvent) => writer.append(event);
  // The same few events repeatedly: this makes no difference to the journal and keeps the heap small.
  const events = newEvents(6_400);
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) await keepAll(events, record);
  };
  await rounds(30);
  for (let window = 0; window < 5; window++)
    await measure('journal: written, 64 requests per tick', 15 * events.length, () => rounds(15));
  writer.close();
};

const shipping = async (name: string, events: Events): Promise<void> => {
  const usage = openUsageLog({
    folder: path.join(folder, name.replaceAll(/\W/g, '-')),
    events,
    sync: { intervalMs: 100 },
    log,
  });
  const recorded = newEvents(120_000);
  await keepAll(recorded.slice(0, 20_000), usage.record);
  await usage.ship();
  await measure(name, 100_000, async () => {
    await keepAll(recorded.slice(20_000), usage.record);
    await usage.ship();
  });
  await usage.close();
};

const embedded = async (): Promise<void> => {
  const ledger = openLibsqlLedger(path.join(folder, 'ledger.db'));
  const events = createLocalEvents({
    usage: receiveUsage(ledger),
    rejectedFile: path.join(folder, 'rejected.log'),
    log,
  });
  await shipping('journal: written, and shipped to the embedded ledger', events);
  await ledger.close();
};

const batches = async (
  all: readonly UsageEvent[],
  size: number,
  work: (some: readonly UsageEvent[]) => Promise<void>,
) => {
  for (let i = 0; i < all.length; i += size) await work(all.slice(i, i + size));
};

const embeddedLedger = async (): Promise<void> => {
  const ledger = openLibsqlLedger(path.join(folder, 'ledger-alone.db'));
  await ledger.insert(newEvents(20_000));
  const events = newEvents(100_000);
  for (const size of [64, 500])
    await measure(`embedded ledger: inserted, ${size} at a time`, 50_000, () =>
      batches(events.splice(0, 50_000), size, (some) =>
        ledger.insert(some, (index) => eventJson(some[index] as UsageEvent)),
      ),
    );
  await ledger.close();
};

const clickHouse = async (): Promise<void> => {
  const service = await startClickHouse();
  const ledger = openClickHouseLedger(`${service.url}/sluice_bench_${randomBytes(4).toString('hex')}`);
  await ledger.insert(newEvents(5_000));
  const events = newEvents(100_000);
  await measure('ClickHouse: inserted, 5,000 at a time', events.length, () =>
    batches(events, 5_000, (some) => ledger.insert(some)),
  );
  await ledger.close();
  await service.stop();
};

const kafka = async (): Promise<void> => {
  const service = await startKafka();
  const store = clickHouseMissing() === undefined ? await startClickHouse() : undefined;
  const settings = {
    brokers: service.brokers.split(','),
    prefix: `bench-${randomBytes(4).toString('hex')}`,
  };
  const events = createKafkaEvents(settings, log);
  const messages = (some: readonly UsageEvent[]) =>
    some.map((event) => ({ key: event.subscription, value: JSON.stringify(event) }));
  const sent = newEvents(150_000);
  await batches(sent.slice(0, 30_000), 200, (some) => events.publish('usage', messages(some)));
  await measure('Kafka: published, 200 at a time', 120_000, () =>
    batches(sent.slice(30_000), 200, (some) => events.publish('usage', messages(some))),
  );
  if (store !== undefined) {
    const ledger = openClickHouseLedger(`${store.url}/sluice_bench_${randomBytes(4).toString('hex')}`);
    await ledger.check();
    const receive = receiveUsage(ledger);
    let taken = 0;
    await measure('Kafka to ClickHouse: consumed, validated, inserted', sent.length, async () => {
      const subscription = subscribeKafka({
        settings,
        topic: 'usage',
        group: 'billing',
        log,
        receive: async (some, signal) => {
          const rejected = await receive(some, signal);
          taken += some.length;
          return rejected;
        },
      });
      while (taken < sent.length) await delay(10);
      await subscription.stop();
    });
    await ledger.close();
    await store.stop();
  }
  await shipping('journal: written, and shipped to Kafka', events);
  await events.close();
  await service.stop();
};

const cases: Record<string, { missing?: string | undefined; run: () => Promise<void> }> = {
  journal: { run: journal },
  embedded: { run: embedded },
  ledger: { run: embeddedLedger },
  clickhouse: { missing: clickHouseMissing(), run: clickHouse },
  kafka: { missing: kafkaMissing(), run: kafka },
};

const chosen = process.argv.slice(2);
for (const [name, { missing, run }] of Object.entries(cases)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  if (missing === undefined) await run();
  else process.stdout.write(`${name}: ${missing}\n`);
}
process.exit(0);
