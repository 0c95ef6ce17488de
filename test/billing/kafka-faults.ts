/** `npm run chaos:kafka`: usage through three brokers while one after the other is killed, shut down and frozen. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { topicName } from '../../src/adapters/events/kafka-client.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { readCommandLine } from '../command-line.ts';
import { kafkaMissing, startKafkaCluster } from '../services/kafka.ts';
import { healed, startLoad, withAdmin } from './kafka-load.ts';

const { values } = readCommandLine({
  command: 'npm run chaos:kafka',
  summary: 'Kills, stops and freezes brokers of a cluster under load, and counts what was acknowledged.',
  options: {
    seconds: { value: 'N', help: 'how long brokers are disturbed', from: 10, to: 3600, default: 180 },
    grow: { help: 'add partitions halfway' },
  },
});
const missing = kafkaMissing({ own: true });
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-kafka-faults-'));
const cluster = await startKafkaCluster(3);
const settings = {
  brokers: cluster.brokers.split(','),
  prefix: `faults-${randomBytes(4).toString('hex')}`,
  metadataMs: 2_000,
};
const ledger = openLibsqlLedger(join(folder, 'ledger.db'));
const load = startLoad(settings, ledger);
let consumer = load.consume();
load.consume();
await load.more(1_000);

const faults = ['kill', 'shutDown', 'freeze'] as const;
const counts = { kill: 0, shutDown: 0, freeze: 0, rebalances: 0 };
const recoveries: number[] = [];
const begun = Date.now();
for (let round = 0; Date.now() - begun < values.seconds * 1000; round++) {
  const node = cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)];
  const fault = faults[round % faults.length] ?? 'kill';
  if (node === undefined) break;
  const since = Date.now();
  await node[fault]();
  counts[fault]++;
  await load.more(40);
  recoveries.push(Date.now() - since);
  await delay(2_000 + Math.random() * 4_000);
  await (fault === 'freeze' ? node.thaw() : node.revive());
  await healed(settings);
  if (round % 4 === 3) {
    await consumer.stop();
    consumer = load.consume();
    counts.rebalances++;
  }
  if (values.grow && round === 4)
    await withAdmin(settings, (admin) =>
      admin.createPartitions({ topicPartitions: [{ topic: topicName(settings, 'usage'), count: 24 }] }),
    );
}
const { acknowledged, refused, gap } = load;
const result = await load.settle();
await ledger.close();
await cluster.stop();
rmSync(folder, { recursive: true, force: true });
recoveries.sort((a, b) => a - b);
console.log({
  seconds: Math.round((Date.now() - begun) / 1000),
  faults: counts,
  acknowledged,
  refused,
  counted: result.counted,
  copies: result.copies,
  lost: result.missing.length,
  recovery_ms: {
    median: recoveries[Math.floor(recoveries.length / 2)],
    longest: recoveries.at(-1),
  },
  longest_gap_ms: gap,
});
process.exit(result.missing.length === 0 ? 0 : 1);
