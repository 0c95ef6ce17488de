/** Tests Kafka with three brokers: replication, loss of brokers, rebalances and new partitions under load. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { groupName, type KafkaSettings, topicName } from '../../src/adapters/events/kafka-client.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { type KafkaNode, kafkaMissing, startKafkaCluster } from '../services/kafka.ts';
import { healed, partitionsOf, startLoad, withAdmin } from './kafka-load.ts';

t.test('Kafka with three brokers', { skip: kafkaMissing({ own: true }) ?? false }, async (t) => {
  const cluster = await startKafkaCluster(3);
  t.teardown(() => cluster.stop());
  const [, second, third] = cluster.nodes as [KafkaNode, KafkaNode, KafkaNode];
  const newSettings = (): KafkaSettings => ({
    brokers: cluster.brokers.split(','),
    prefix: `sluice-test-${randomBytes(4).toString('hex')}`,
    metadataMs: 1_000,
  });
  const underLoad = (t: Test, settings: KafkaSettings) => {
    const ledger = openLibsqlLedger(join(t.testdir(), 'ledger.db'));
    const load = startLoad(settings, ledger);
    t.teardown(async () => {
      await load.stop();
      await ledger.close();
    });
    return load;
  };

  await t.test('topics have three replicas, two of which acknowledge', async (t) => {
    const settings = newSettings();
    const lines: { msg: string; topics?: string[] }[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) });
    await withAdmin(settings, async (admin) => {
      // An operator made this one, and meant it.
      const topics = [{ topic: topicName(settings, 'jobs'), numPartitions: 1, replicationFactor: 1 }];
      // The library would ask another broker, which may not have heard of it.
      const create = () => admin.createTopics({ waitForLeaders: false, topics });
      // Brokers listen before they know a controller.
      await eventually(() => create().catch(unlessNoController), 'a controller');
      const events = createKafkaEvents(settings, log);
      await events.check();
      await events.close();
      const resources = ['usage', 'usage.dead'].map((name) => ({
        type: 2,
        name: `${settings.prefix}.${name}`,
        configNames: ['min.insync.replicas'],
      }));
      const { resources: described } = await admin.describeConfigs({ resources, includeSynonyms: false });
      t.strictSame(
        described.map(({ configEntries }) => configEntries.map(({ configValue }) => configValue)),
        [['2'], ['2']],
      );
    });
    const partitions = await partitionsOf(settings);
    t.equal(partitions.length, 12);
    t.ok(partitions.every(({ replicas }) => replicas.length === 3));
    t.match(lines, [
      {
        msg: 'kafka topics have too few replicas to survive the loss of a broker',
        topics: [topicName(settings, 'jobs')],
      },
    ]);
  });

  await t.test('a broker is shut down and one is killed under load; every event counts once', async (t) => {
    const settings = newSettings();
    const load = underLoad(t, settings);
    load.consume();
    load.consume();
    await load.more(500);
    await second.shutDown();
    await load.more(500);
    await second.revive();
    await healed(settings);
    await third.kill();
    await load.more(500);
    await third.revive();
    await healed(settings);
    t.comment(
      `${load.acknowledged} events, ${load.refused} publications refused, longest gap ${load.gap} ms`,
    );
    const published = load.acknowledged;
    const { missing, counted, copies } = await load.settle();
    t.comment(`${copies} copies`);
    t.strictSame(missing, [], 'nothing that was acknowledged is lost');
    t.ok(counted >= published && counted <= published + 40, 'and each counts once');
  });

  await t.test('consumers come and go, and partitions are added, under load', async (t) => {
    const settings = newSettings();
    const load = underLoad(t, settings);
    const one = load.consume();
    await load.more(400);
    load.consume();
    await load.more(400);
    await one.stop();
    load.consume();
    await withAdmin(settings, (admin) =>
      admin.createPartitions({ topicPartitions: [{ topic: topicName(settings, 'usage'), count: 24 }] }),
    );
    const read = () =>
      withAdmin(settings, async (admin) => {
        const topic = topicName(settings, 'usage');
        const groupId = groupName(settings, 'billing');
        const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
        return group?.partitions.filter(({ partition, offset }) => partition >= 12 && Number(offset) > 0)
          .length;
      });
    const added = await eventually(
      async () => ((await read()) ?? 0) > 5 && (await read()),
      'new partitions read',
      60,
    );
    t.ok(added > 5, 'new partitions are written and read');
    await load.more(400);
    const published = load.acknowledged;
    const { missing, counted } = await load.settle();
    t.strictSame(missing, []);
    t.ok(counted >= published && counted <= published + 40, 'each counts once');
  });

  await t.test(
    'with one replica of three left nothing is acknowledged',
    { skip: onlyLong && 'with SLUICE_TEST_LONG=1' },
    async (t) => {
      const settings = newSettings();
      const load = underLoad(t, settings);
      load.consume();
      await load.more(200);
      await Promise.all([second.kill(), third.kill()]);
      const { refused } = load;
      await eventually(() => load.refused > refused + 1, 'publications are refused', 60);
      const before = load.acknowledged;
      await eventually(() => load.refused > refused + 3, 'and again', 60);
      t.equal(load.acknowledged, before);
      await Promise.all([second.revive(), third.revive()]);
      await load.more(200);
      const published = load.acknowledged;
      const { missing, counted } = await load.settle();
      t.strictSame(missing, []);
      t.ok(counted >= published && counted <= published + 40, 'each counts once');
    },
  );
});

const unlessNoController = (error: { type?: string }): false => {
  if (error.type !== 'KafkaJSBrokerNotFound') throw error;
  return false;
};
