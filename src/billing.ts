/** The billing consumer: a process that reads usage from Kafka into the ledger. */
import type { Logger } from 'pino';
import { readUsage } from './adapters/events/open.ts';
import { openLedger } from './adapters/ledger/open.ts';
import { openAdmin } from './admin/open.ts';
import { billingQuestions } from './admin/questions.ts';
import { createReadiness } from './admin/readiness.ts';
import { receiveUsage } from './billing/receive-usage.ts';
import { type Config, chosenAdmin } from './config.ts';
import { createMetrics } from './metrics/metrics.ts';
import { readingFamilies } from './metrics/reading-families.ts';
import { Opened } from './opened.ts';

export interface RunningBilling {
  /** Metrics and probes; undefined where no port was chosen for them. */
  readonly adminUrl: string | undefined;
  stop(): Promise<void>;
}

/** Rejects with one sentence for the operator when it cannot start. Kafka and the ledger are waited for. */
export const startBilling = async (config: Config, log: Logger): Promise<RunningBilling> => {
  if (config.kafka === undefined)
    throw new Error('KAFKA_BROKERS is not set: without Kafka a gateway keeps the ledger itself');
  const opened = new Opened();
  try {
    const ledger = opened.add(await openLedger(config, log));
    await ledger.check().catch((error: unknown) => {
      log.error({ err: error }, error instanceof Error ? error.message : String(error));
    });
    const reading = opened.add(await readUsage(config.kafka, receiveUsage(ledger), log));
    const metrics = opened.add(createMetrics());
    metrics.watch(() => readingFamilies(reading.stats()));
    const readiness = createReadiness(billingQuestions(reading, ledger));
    const admin = await openAdmin(chosenAdmin(config), metrics, readiness);
    if (admin !== undefined) opened.add(admin);
    readiness.enter();
    return {
      adminUrl: admin?.url,
      stop: () => {
        readiness.leave();
        return opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
};
