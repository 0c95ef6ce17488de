/** Starts the gateways and services of a chaos run as real processes. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { auditKafka } from '../../src/adapters/events/kafka-audit.ts';
import { openClickHouseLedger } from '../../src/adapters/ledger/clickhouse.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { type Report, verifyUsage } from '../../src/billing/verify.ts';
import type { Ledger } from '../../src/ports/ledger.ts';
import { type Disturbed, disturbed, end, freePort, launch } from '../services/child.ts';
import { startClickHouse } from '../services/clickhouse.ts';
import { startKafka } from '../services/kafka.ts';

/** Something that can be killed as a crash would, and started again on the same port and data. */
export interface Victim extends Pick<Disturbed, 'kill' | 'revive'> {
  readonly name: string;
  stop(): Promise<void>;
}

/** One of our own processes; SIGTERM lets what runs in it end. */
export interface SluiceProcess extends Victim, Disturbed {
  drain(): Promise<void>;
}

export interface Stack {
  /** Base addresses of the gateways. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly model: string;
  readonly price: { readonly prompt: string; readonly completion: string };
  readonly victims: readonly Victim[];
  /** The ledger they all fill; ours to close. */
  readonly ledger: Ledger;
  verify(): Promise<Report>;
  stop(): Promise<void>;
}

export interface StackOptions {
  readonly gateways: number;
  /** False: everything embedded, the gateways share one data folder. */
  readonly services: boolean;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The built command, without its look for newer sources at each start. */
const command = join(root, 'bin/sluice.mjs');
/** Node without what a test runner puts into it by this variable. */
const plainNode = ['-u', 'NODE_OPTIONS', process.execPath];
const key = 'sk-chaos-0123456789abcdef';
const model = 'chaos/chat';
const price = { prompt: '0.0000013', completion: '0.0000071' };
const catalog = `models:
  ${model}:
    engine: simulator
    context_length: 131072
    pricing: { prompt: '${price.prompt}', completion: '${price.completion}' }
    limits: { concurrency: 10000, requests_per_minute: 10000000 }
`;
const log = pino({ level: 'silent' });

/** The processes run what is built. */
export const buildIfStale = (): void => {
  execFileSync('env', [...plainNode, join(root, 'bin/build-if-stale.mjs')], { stdio: ['ignore', 2, 2] });
};

export const startStack = async (options: StackOptions): Promise<Stack> => {
  buildIfStale();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-chaos-'));
  const configFile = join(folder, 'sluice.yaml');
  writeFileSync(configFile, catalog);
  const victims: Victim[] = [];
  const stopAll = async (): Promise<void> => {
    for (const victim of [...victims].reverse()) await victim.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const environment: Record<string, string> = {
      SLUICE_CONFIG: configFile,
      SLUICE_BOOTSTRAP_KEY: key,
      SLUICE_DRAIN_SECONDS: '5',
      LOG_LEVEL: 'error',
    };
    const services = options.services ? await startServices(victims) : undefined;
    if (services !== undefined) Object.assign(environment, services.environment);
    const urls: string[] = [];
    const started: Promise<Victim>[] = [];
    for (let number = 1; number <= options.gateways; number++) {
      const port = await freePort();
      urls.push(`http://127.0.0.1:${port}/v1`);
      // Without a shared ledger they share the folder that holds it.
      const dataDir = join(folder, services === undefined ? 'data' : `data-${number}`);
      const own = { ...environment, PORT: String(port), SLUICE_DATA: dataDir };
      started.push(startSluice(`gateway ${number}`, ['serve'], own, () => answers(urls[number - 1] ?? '')));
    }
    if (services !== undefined)
      for (const number of [1, 2])
        started.push(startSluice(`consumer ${number}`, ['billing'], { ...environment, SLUICE_DATA: folder }));
    victims.push(...(await Promise.all(started)));
    const ledger = services?.openLedger() ?? openLibsqlLedger(join(folder, 'data', 'ledger.db'));
    return {
      urls,
      key,
      model,
      price,
      victims,
      ledger,
      verify: () =>
        verifyUsage({
          journals: services ? undefined : join(folder, 'data', 'journal'),
          ledger,
          kafka: services?.audit,
        }),
      stop: async () => {
        await ledger.close();
        await stopAll();
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
};

const startServices = async (victims: Victim[]) => {
  const kafka = await startKafka({ own: true });
  victims.push({ name: 'Kafka', ...kafka });
  const clickHouse = await startClickHouse({ own: true });
  victims.push({ name: 'ClickHouse', ...clickHouse });
  const settings = { brokers: [kafka.brokers], prefix: 'sluice' };
  return {
    environment: { KAFKA_BROKERS: kafka.brokers, CLICKHOUSE_URL: clickHouse.url, SLUICE_BILLING: 'apart' },
    openLedger: () => openClickHouseLedger(clickHouse.url),
    audit: (look: Parameters<typeof auditKafka>[2]) =>
      auditKafka(settings, { topic: 'usage', group: 'billing', log }, look),
  };
};

/** A process of the built command; it is ready when `ready` says so. */
export const startSluice = async (
  name: string,
  words: readonly string[],
  environment: Record<string, string>,
  ready: () => Promise<boolean> = async () => true,
): Promise<SluiceProcess> => {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
  let child: ChildProcess | undefined;
  const own = await disturbed(async () => {
    child = await launch('env', [...plainNode, command, ...words], ready, env);
    return child;
  });
  return {
    name,
    ...own,
    drain: async () => {
      if (child !== undefined) await end(child, 'SIGTERM');
    },
    stop: own.kill,
  };
};

export const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/models`)).ok;
  } catch {
    return false;
  }
};
