/** Starts the whole topology as processes: gateways, workers, billing, their clustered services and a front. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { auditKafka } from '../../../src/adapters/events/kafka-audit.ts';
import { openClickHouseLedger } from '../../../src/adapters/ledger/clickhouse.ts';
import { type Report, verifyUsage } from '../../../src/billing/verify.ts';
import type { Ledger } from '../../../src/ports/ledger.ts';
import { freePort } from '../../services/child.ts';
import { clickHouseMissing, startClickHouse } from '../../services/clickhouse.ts';
import { kafkaMissing, startKafkaCluster } from '../../services/kafka.ts';
import { qdrantMissing, startQdrant } from '../../services/qdrant.ts';
import { redisMissing } from '../../services/redis.ts';
import { startRedisCluster } from '../../services/redis-cluster.ts';
import { s3Environment, s3Missing, startS3 } from '../../services/s3.ts';
import { Client } from '../../topology/client.ts';
import { answers, buildIfStale, type SluiceProcess, startSluice } from '../stack.ts';
import { type Accounts, adminToken, createAccounts } from './accounts.ts';
import type { Group, Look } from './faults.ts';
import { nginxMissing, prepareFront } from './front.ts';
import type { Jobs } from './jobs.ts';
import {
  billingPart,
  brokerPart,
  frontPart,
  gatewayPart,
  ledgerPart,
  redisPart,
  type Served,
  storagePart,
  vectorsPart,
  workerPart,
} from './parts.ts';
import { supervised } from './supervised.ts';

export const counts = { gateways: 3, workers: 2, billing: 2, brokers: 3 };

export interface ClusterStack {
  /** Where clients ask. */
  readonly front: string;
  readonly accounts: Accounts;
  /** For looks at what works. */
  readonly probe: Client;
  readonly ledger: Ledger;
  /** Of which one part each may be disturbed at a time: no majority of brokers, no primary with its replica. */
  groups(search: Look): readonly Group[];
  /** Journals of every process that has one, Kafka and the ledger compared. */
  verify(): Promise<readonly Report[]>;
  stop(): Promise<void>;
}

/** Kafka's own bounds rather than those of short tests: a busy machine keeps brokers waiting. */
const patientBrokers = `initial.broker.registration.timeout.ms=300000
broker.session.timeout.ms=9000
broker.heartbeat.interval.ms=2000
controller.quorum.election.timeout.ms=1000
controller.quorum.fetch.timeout.ms=4000
`;

/** What is not there to run it. */
export const clusterMissing = (): string | undefined => {
  const own = { own: true };
  return (
    redisMissing(own) ??
    kafkaMissing(own) ??
    clickHouseMissing(own) ??
    qdrantMissing(own) ??
    s3Missing(own) ??
    nginxMissing()
  );
};

interface Sluice {
  readonly name: string;
  readonly process: SluiceProcess;
  readonly port: number;
  readonly admin: string;
}

export const startCluster = async (jobs: Jobs, budget: string): Promise<ClusterStack> => {
  buildIfStale();
  // More than twenty processes that end with this one.
  process.setMaxListeners(64);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-chaos-cluster-'));
  const running: (() => Promise<unknown>)[] = [
    () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  ];
  const stop = async (): Promise<void> => {
    for (const end of running.reverse()) await end();
  };
  const started = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
    const one = await starting;
    running.push(() => one.stop());
    return one;
  };
  try {
    // One after the other: brokers that start beside all others are slow.
    const redis = await started(startRedisCluster({ persist: true }));
    const s3 = await started(startS3({ own: true }));
    const clickHouse = await started(startClickHouse({ own: true }));
    const qdrant = await started(startQdrant({ own: true }));
    const kafka = await started(
      startKafkaCluster(counts.brokers, { listeners: [], properties: patientBrokers }),
    );
    if (s3.own === undefined) throw new Error('This S3 is not ours to disturb.');
    const front = await prepareFront(join(folder, 'front'));
    const settings: Record<string, string> = {
      SLUICE_BOOTSTRAP_KEY: 'sk-chaos-0123456789abcdef',
      SLUICE_ADMIN_TOKEN: adminToken,
      SLUICE_ALLOW_PRIVATE_URLS: '1',
      SLUICE_DRAIN_SECONDS: '5',
      LOG_LEVEL: 'error',
      REDIS_URL: redis.url,
      REDIS_WAIT_REPLICAS: '1',
      KAFKA_BROKERS: kafka.brokers,
      CLICKHOUSE_URL: clickHouse.url,
      QDRANT_URL: qdrant.url,
      ...s3Environment(s3.settings),
      SLUICE_BILLING: 'apart',
      SLUICE_WORKERS: '0',
      SLUICE_PUBLIC_URL: front.url,
    };
    const sluice = async (name: string, word: string, own: Record<string, string> = {}): Promise<Sluice> => {
      const [port, adminPort] = [await freePort(), await freePort()];
      const admin = `http://127.0.0.1:${adminPort}`;
      const places = { PORT: String(port), SLUICE_ADMIN_PORT: String(adminPort) };
      const environment = { SLUICE_DATA: join(folder, name), ...settings, ...places, ...own };
      const ready = () =>
        word === 'serve' ? answers(`http://127.0.0.1:${port}/v1`) : serves(`${admin}/readyz`);
      const process = await started(supervised(() => startSluice(name, [word], environment, ready)));
      return { name, process, port, admin };
    };
    const several = async (count: number, name: string, word: string, own?: Record<string, string>) => {
      const all: Sluice[] = [];
      for (let number = 1; number <= count; number++) all.push(await sluice(`${name} ${number}`, word, own));
      return all;
    };
    // They share a folder, where the journal of one that is dead is shipped by the others.
    const gateways = await several(counts.gateways, 'gateway', 'serve', {
      SLUICE_DATA: join(folder, 'gateways'),
    });
    const workers = await several(counts.workers, 'worker', 'worker', {
      SLUICE_WORKERS: '2',
      SLUICE_DATA: join(folder, 'workers'),
    });
    const billing = await several(counts.billing, 'billing', 'billing');
    const balancer = await front.start(gateways.map(({ port }) => port));
    running.push(() => balancer.kill());
    const accounts = await createAccounts(
      gateways.map(({ admin }) => admin),
      budget,
    );
    const ledger = openClickHouseLedger(clickHouse.url);
    running.push(() => ledger.close());
    const probe = new Client([front.url], accounts.secrets[0] ?? '');
    const served: Served = { client: probe, front: front.url, ledger, jobs };
    const kafkaSettings = { brokers: kafka.brokers.split(','), prefix: 'sluice' };
    const log = pino({ level: 'silent' });
    const own = s3.own;
    return {
      front: front.url,
      accounts,
      probe,
      ledger,
      groups: (search) =>
        [
          gateways.map(({ process, name, port }) =>
            gatewayPart(process, name, `http://127.0.0.1:${port}/v1`, served),
          ),
          workers.map(({ process, name, admin }) => workerPart(process, name, admin, served)),
          billing.map(({ process, name, admin }) => billingPart(process, name, admin, served)),
          redis.nodes.map((node, index) => redisPart(redis, node, index + 1)),
          kafka.nodes.map((node) => brokerPart(node, kafkaSettings, served)),
          [ledgerPart(clickHouse, clickHouse.url, served)],
          [storagePart(own, s3.settings.endpoint, served)],
          [vectorsPart(qdrant, qdrant.url, search)],
          [frontPart(balancer, served)],
        ] as unknown as readonly Group[],
      verify: () =>
        Promise.all(
          ['gateways', 'workers'].map((name) =>
            verifyUsage({
              journals: join(folder, name, 'journal'),
              ledger,
              kafka: (look) => auditKafka(kafkaSettings, { topic: 'usage', group: 'billing', log }, look),
            }),
          ),
        ),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const serves = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
};
