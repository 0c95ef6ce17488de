/** Tests the Events port in process and on Kafka: usage is consumed, shared, dead-lettered, never lost. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { firstValueFrom } from 'rxjs';
import t, { type Test } from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { auditKafka } from '../../src/adapters/events/kafka-audit.ts';
import { type KafkaSettings, topicName } from '../../src/adapters/events/kafka-client.ts';
import { kafkajs } from '../../src/adapters/events/kafka-corrections.ts';
import { subscribeKafka } from '../../src/adapters/events/kafka-subscription.ts';
import { createLocalEvents } from '../../src/adapters/events/local.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { receiveUsage } from '../../src/billing/receive-usage.ts';
import { openUsageLog } from '../../src/billing/usage-log.ts';
import { run } from '../../src/cli/main.ts';
import { fail } from '../../src/errors.ts';
import type { Receiver } from '../../src/ports/events.ts';
import type { Ledger } from '../../src/ports/ledger.ts';
import { eventsContract } from '../contracts/events.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { kafkaMissing, startKafka } from '../services/kafka.ts';
import { rewriteLedger } from './rewrite-ledger.ts';
import { usageEvent } from './usage-events.ts';

const log = pino({ level: 'silent' });
const always = { from: 0, to: Number.MAX_SAFE_INTEGER };

const settingsFor = (brokers: string): KafkaSettings => ({
  brokers: brokers.split(','),
  prefix: `sluice-test-${randomBytes(4).toString('hex')}`,
});

const messagesOf = (events: readonly UsageEvent[]) =>
  events.map((event) => ({ key: event.subscription, value: JSON.stringify(event) }));

const newEvents = (count: number) =>
  Array.from({ length: count }, (_, n) => usageEvent({ subscription: `sub_${n % 9}` }));

const newLedger = (t: Test): Ledger => {
  const ledger = openLibsqlLedger(join(t.testdir(), 'ledger.db'));
  t.teardown(() => ledger.close());
  return ledger;
};

const idsOf = async (ledger: Ledger): Promise<string[]> =>
  (await ledger.list(always, { limit: 10_000 })).map(({ id }) => id).sort();

t.test('in process: contract', (t) =>
  eventsContract(t, (receive) => {
    const events = createLocalEvents({
      usage: receive,
      rejectedFile: join(t.testdir(), 'rejected.log'),
      log,
    });
    return { events, stop: () => Promise.resolve() };
  }),
);

t.test('unavailable Kafka', async (t) => {
  const events = createKafkaEvents(settingsFor('127.0.0.1:1'), log);
  const sentence = { message: /^Kafka at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED.*\.$/ };
  await t.rejects(events.check(), sentence);
  await t.rejects(events.publish('usage', messagesOf(newEvents(1))), sentence);
  await events.close();

  await t.test('a gateway starts without it, logs so, serves and journals the usage', async (t) => {
    const gateway = await startGateway({ env: { KAFKA_BROKERS: '127.0.0.1:1' } });
    t.teardown(() => gateway.stop());
    t.ok(
      gateway.logLines.some(
        ({ level, msg }) => level === 50 && /^Kafka at .* is kept in the journal/.test(msg),
      ),
    );
    const response = await fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: '/sim tokens=2\nhi' }] }),
    });
    t.equal(response.status, 200);
  });
});

t.test('Kafka', { skip: kafkaMissing() ?? false }, async (t) => {
  const skipOwn = kafkaMissing({ own: true });
  const service = await startKafka({ own: skipOwn === undefined });
  t.teardown(() => service.stop());
  const newSettings = () => settingsFor(service.brokers);
  const subscribe = (settings: KafkaSettings, receive: Receiver) =>
    subscribeKafka({ settings, topic: 'usage', group: 'billing', receive, log, batch: { bytes: 1, ms: 50 } });
  const audit = (settings: KafkaSettings) =>
    auditKafka(settings, { topic: 'usage', group: 'billing', log }, () => Promise.resolve());

  await t.test('contract', (t) =>
    eventsContract(t, (receive) => {
      const settings = newSettings();
      const subscription = subscribe(settings, receive);
      return { events: createKafkaEvents(settings, log), stop: () => subscription.stop() };
    }),
  );

  await t.test('invalid events are dead-lettered with the reason; the rest is counted', async (t) => {
    const settings = newSettings();
    const events = createKafkaEvents(settings, log);
    await events.check();
    const good = newEvents(20);
    const refused = usageEvent({ id: 'refused' });
    const producer = new kafkajs.Kafka({ brokers: settings.brokers as string[], logLevel: 0 }).producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    const topic = topicName(settings, 'usage');
    await events.publish('usage', messagesOf(good.slice(0, 10)));
    await producer.send({
      topic,
      messages: [
        { key: 'k', value: Buffer.from([0xff, 0xfe, 0x00]), headers: { from: 'elsewhere' } },
        { key: null, value: '{"schema":1}' },
        { key: 'k', value: null },
        { key: 'k', value: JSON.stringify({ ...usageEvent(), cost: '-1' }) },
      ],
    });
    await events.publish('usage', messagesOf([...good.slice(10), refused]));

    const ledger = newLedger(t);
    const picky: Pick<Ledger, 'insert'> = {
      insert: async (rows) => {
        const all = [...rows];
        if (all.some(({ id }) => id === 'refused')) throw new Error('no such row, ever');
        await ledger.insert(all);
      },
    };
    const subscription = subscribe(settings, receiveUsage(picky));
    await eventually(async () => (await audit(settings)).deadLetters === 5, 'five dead letters');
    await eventually(async () => (await audit(settings)).waiting === 0, 'all committed');
    t.strictSame(await idsOf(ledger), good.map(({ id }) => id).sort());
    await subscription.stop();

    const dead: { value: string | undefined; reason: string; place: string; from: string }[] = [];
    const reader = new kafkajs.Kafka({ brokers: settings.brokers as string[], logLevel: 0 }).consumer({
      groupId: `${settings.prefix}.look`,
      maxWaitTimeInMs: 100,
    });
    await reader.connect();
    await reader.subscribe({ topic: `${topic}.dead`, fromBeginning: true });
    await reader.run({
      eachMessage: async ({ message: { value, headers } }) => {
        const [reason, place, from] = ['reason', 'place', 'from'].map((name) =>
          String(headers?.[name] ?? ''),
        );
        dead.push({
          value: value?.toString('hex'),
          reason: reason ?? '',
          place: place ?? '',
          from: from ?? '',
        });
      },
    });
    await eventually(() => dead.length === 5, 'to read the dead letters');
    const found = (value: string) =>
      dead.find((letter) => letter.value === Buffer.from(value).toString('hex'));
    t.match(
      dead.find(({ from }) => from === 'elsewhere'),
      { value: 'fffe00', reason: /encoded data was not valid/, place: new RegExp(`^${topic}/\\d+/\\d+$`) },
      'as it came, with its own headers',
    );
    t.match(found('{"schema":1}'), { reason: /^not a usage event of version 1/ });
    t.match(found(JSON.stringify(refused)), { reason: 'no such row, ever' });
    t.ok(dead.some(({ reason }) => /cost/.test(reason)));
    await reader.disconnect();
    await producer.disconnect();
    await events.close();
  });

  await t.test('nothing is committed while the ledger is unavailable; all is counted once', async (t) => {
    const settings = newSettings();
    const events = createKafkaEvents(settings, log);
    const sent = newEvents(50);
    await events.publish('usage', messagesOf(sent));
    await events.publish('usage', messagesOf(sent.slice(0, 20))); // sent again, as after a crash
    const ledger = newLedger(t);
    let away = true;
    let attempts = 0;
    const subscription = subscribe(
      settings,
      receiveUsage({
        insert: async (rows) => {
          attempts++;
          if (!away) return ledger.insert(rows);
          throw fail('unavailable', 'away');
        },
      }),
    );
    await eventually(() => attempts >= 3, 'some attempts');
    t.strictSame(await audit(settings), { messages: 70, waiting: 70, deadLetters: 0 });
    away = false;
    await eventually(async () => (await audit(settings)).waiting === 0, 'all committed');
    t.strictSame(await idsOf(ledger), sent.map(({ id }) => id).sort());
    await subscription.stop();
    await events.close();
  });

  await t.test('consumers that join and leave share the work; every event counts once', async (t) => {
    const settings = newSettings();
    const events = createKafkaEvents(settings, log);
    const ledger = newLedger(t);
    const sent: UsageEvent[] = [];
    const publish = async (count: number) => {
      const some = newEvents(count);
      sent.push(...some);
      await events.publish('usage', messagesOf(some));
    };
    await publish(100);
    const first = subscribe(settings, receiveUsage(ledger));
    await eventually(async () => (await idsOf(ledger)).length > 0, 'the first to read');
    const second = subscribe(settings, receiveUsage(ledger));
    for (let turn = 0; turn < 10; turn++) {
      await publish(50);
      await delay(20);
    }
    await first.stop();
    await publish(100);
    const third = subscribe(settings, receiveUsage(ledger));
    await publish(100);
    await eventually(async () => (await idsOf(ledger)).length === sent.length, 'all events');
    t.strictSame(await idsOf(ledger), sent.map(({ id }) => id).sort());
    t.match(await ledger.totals(always, [], { limit: 1 }), [{ requests: sent.length }]);
    await second.stop();
    await third.stop();
    await events.close();
  });

  await t.test('a gateway with Kafka and the embedded ledger; verify compares all three', async (t) => {
    const { prefix } = newSettings();
    const env = { KAFKA_BROKERS: service.brokers, KAFKA_PREFIX: prefix };
    const gateway = await startGateway({ env });
    t.teardown(() => gateway.stop());
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ messages: [{ role: 'user', content: '/sim tokens=7\nhi' }] });
    for (let count = 0; count < 5; count++) {
      const response = await fetch(`${gateway.url}/chat/completions`, { method: 'POST', headers, body });
      t.equal(response.status, 200);
      await response.text();
    }
    await eventually(async () => {
      const usage = await (await fetch(`${gateway.url}/usage`, { headers })).json();
      return (usage as { data: { completion_tokens: number }[] }).data[0]?.completion_tokens === 35;
    }, 'usage in the ledger');

    const dataDir = join(gateway.folder, 'data');
    const verify = async () => {
      Object.assign(process.env, { ...env, SLUICE_DATA: dataDir });
      const out = t.capture(process.stdout, 'write', () => true);
      const err = t.capture(process.stderr, 'write', () => true);
      const code = await run(['usage', 'verify', '--json']);
      const text = out()
        .map(({ args }) => String(args[0]))
        .join('');
      out.restore();
      err.restore();
      for (const name of [...Object.keys(env), 'SLUICE_DATA']) delete process.env[name];
      return { code, report: JSON.parse(text) };
    };
    const settled = async () => (await verify()).report.kafka.waiting === 0;
    await eventually(settled, 'the reader to commit');
    t.match(await verify(), {
      code: 0,
      report: {
        journal: { waiting: 0, shipped: 5, damaged: 0 },
        kafka: { messages: 5, repeated: 0, waiting: 0, deadLetters: 0, missing: [] },
        ledger: { found: 5, missing: [], duplicated: [], altered: [] },
      },
    });
    let gone: string | undefined;
    let altered: string | undefined;
    rewriteLedger(join(dataDir, 'ledger.db'), (event) => {
      gone ??= event.id;
      if (event.id === gone) return undefined;
      altered ??= event.id;
      return event.id === altered ? { ...event, cost: '7' } : event;
    });
    t.match(await verify(), {
      code: 1,
      report: { ledger: { found: 4, missing: [gone], duplicated: [], altered: [altered] } },
    });
  });

  await t.test('a dead broker loses nothing', { skip: skipOwn ?? false }, async (t) => {
    const settings = newSettings();
    const events = createKafkaEvents(settings, log);
    const ledger = newLedger(t);
    const subscription = subscribe(settings, receiveUsage(ledger));
    const folder = t.testdir();
    const usage = openUsageLog({ folder, events, sync: 'none', log });
    t.teardown(async () => {
      await usage.close();
      await subscription.stop();
      await events.close();
    });
    const sent: UsageEvent[] = [];
    const record = async (count: number) => {
      for (const event of newEvents(count)) {
        await firstValueFrom(usage.record(event));
        sent.push(event);
      }
    };
    await record(100);
    await usage.ship();
    await record(50);
    await service.kill();
    await record(200);
    await t.rejects(usage.ship(), /^Error: Kafka at .* cannot be used|Kafka at/);
    t.ok(usage.lag() > 0);
    await service.revive();
    await record(50);
    await eventually(
      () =>
        usage.ship().then(
          () => true,
          () => false,
        ),
      'shipping after the broker came back',
    );
    await eventually(async () => (await idsOf(ledger)).length >= sent.length, 'all events');
    t.strictSame(await idsOf(ledger), sent.map(({ id }) => id).sort());
  });
});
