/** Starts a billing consumer: a process that reads usage from Kafka into the ledger. */
import type { Logger } from 'pino';
import { readUsage } from './adapters/events/open.ts';
import { openLedger } from './adapters/ledger/open.ts';
import { billingChecks } from './admin/checks.ts';
import { openAdmin } from './admin/open.ts';
import { receiveUsage } from './billing/receive-usage.ts';
import { type Config, chosenAdmin } from './config.ts';
import { openAll } from './helpers/opened.ts';
import { createMetrics } from './metrics/metrics.ts';
import { readingFamilies } from './metrics/service-families.ts';

export interface RunningBilling {
  /** Metrics and probes; undefined where no port was chosen for them. */
  readonly adminUrl: string | undefined;
  stop(): Promise<void>;
}

/** Rejects with one sentence for the operator when it cannot start. Kafka and the ledger are waited for. */
export const startBilling = async (config: Config, log: Logger): Promise<RunningBilling> => {
  const { kafka } = config;
  if (kafka === undefined)
    throw new Error('KAFKA_BROKERS is not set: without Kafka a gateway keeps the ledger itself');
  return openAll(async (opened) => {
    const ledger = opened.add(await openLedger(config, log));
    await ledger.check().catch((error: unknown) => {
      log.error({ err: error }, error instanceof Error ? error.message : String(error));
    });
    const reading = opened.add(await readUsage(kafka, receiveUsage(ledger), log));
    const metrics = opened.add(createMetrics());
    metrics.watch(() => readingFamilies(reading.stats()));
    const admin = await openAdmin(opened, chosenAdmin(config), metrics, billingChecks(reading, ledger));
    admin.started();
    return {
      adminUrl: admin.url,
      stop: () => {
        admin.stopping();
        return opened.close();
      },
    };
  });
};
