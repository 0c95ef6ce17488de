/** `sluice worker` and `sluice billing`: services that run beside gateways until a signal stops them. */
import { type Logger, pino } from 'pino';
import { type Config, loadConfig } from '../config.ts';
import { stopInTime, stopOnFatalError } from '../helpers/fatal.ts';
import { collectWhenIdle } from '../helpers/idle-collection.ts';
import type { Command } from './command.ts';
import { remark } from './output.ts';

interface Service {
  /** Called on SIGHUP. */
  reload?(): void;
  stop(): Promise<void>;
}

/** Until a signal or an uncaught error stops it; both are handled as soon as it is called. */
export const runService = async (service: Service, { drainMs }: Config, log: Logger): Promise<void> => {
  stopOnFatalError(log, drainMs, () => service.stop());
  collectWhenIdle();
  if (service.reload !== undefined) process.on('SIGHUP', () => service.reload?.());
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  log.info({ signal }, 'draining');
  // A second interrupt does not wait for the drain.
  process.once('SIGINT', () => process.exit(130));
  await stopInTime(log, drainMs, () => service.stop());
};

interface Standalone extends Service {
  readonly adminUrl: string | undefined;
}

const runStandalone = async (
  start: (config: Config, log: Logger) => Promise<Standalone>,
  describe: (config: Config) => string,
): Promise<void> => {
  const config = loadConfig();
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const running = await start(config, log);
  // Who reads that it is there may stop it at once.
  const stopped = runService(running, config, log);
  remark(describe(config));
  if (running.adminUrl !== undefined) remark(`Metrics and probes at ${running.adminUrl}.`);
  await stopped;
};

export const worker: Command = {
  name: 'worker',
  summary: 'render videos and songs and deliver webhooks, beside gateways that share its store',
  details:
    'Needs REDIS_URL, and files that gateways can read too: an S3 store, or the same data folder. SLUICE_WORKERS says how many\nrenders it does at once; gateways with SLUICE_WORKERS=0 leave them all to workers. Any number may run. KAFKA_BROKERS\nnotifies them of new jobs at once. SLUICE_ADMIN_PORT gives it a port for metrics and probes.',
  run: async () =>
    runStandalone(
      (await import('../worker.ts')).startWorker,
      ({ jobs }) => `Rendering up to ${jobs.renders} jobs at once.`,
    ),
};

export const billing: Command = {
  name: 'billing',
  summary: 'read usage from Kafka into the ledger, beside gateways that leave it to others',
  details:
    'Needs KAFKA_BROKERS; CLICKHOUSE_URL for a ledger that several share. Gateways with SLUICE_BILLING=apart do not read.\nAny number may run: they share the work. SLUICE_ADMIN_PORT gives it a port for metrics and probes.',
  run: async () =>
    runStandalone(
      (await import('../billing.ts')).startBilling,
      ({ kafka, clickHouse, dataDir }) =>
        `Reading usage from Kafka at ${kafka?.brokers.join(', ')} into ${clickHouse === undefined ? dataDir : 'ClickHouse'}.`,
    ),
};
