/** Opens the parts that usage passes through: journal, events, ledger, and the reader between the last two. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type EventsConfig, openEvents, readUsage } from './adapters/events/open.ts';
import { type LedgerConfig, openLedger } from './adapters/ledger/open.ts';
import type { SyncPolicy } from './billing/journal/writer.ts';
import { receiveUsage } from './billing/receive-usage.ts';
import { type JournaledUsage, openUsageLog } from './billing/usage-log.ts';
import type { DeadProcess } from './ports/allowances.ts';
import type { Events, Reading } from './ports/events.ts';
import type { Ledger } from './ports/ledger.ts';

export interface AccountsConfig extends LedgerConfig, EventsConfig {
  readonly billing: 'inside' | 'apart';
  readonly journalSync: SyncPolicy;
  readonly journalMaxBytes: number;
}

export interface AccountsHooks {
  /** Called when the journal of a dead process is shipped to its end, again and again until it resolves. */
  readonly died?: ((dead: DeadProcess) => Promise<void>) | undefined;
}

export interface Accounts {
  readonly usage: JournaledUsage;
  readonly ledger: Ledger;
  readonly events: Events;
  /** Undefined where usage is not read from Kafka by this process. */
  readonly reading: Reading | undefined;
  close(): Promise<void>;
}

/** A service that is unavailable is logged, not fatal: the journal keeps the usage until the service recovers. */
export const openAccounts = async (
  config: AccountsConfig,
  log: Logger,
  { died }: AccountsHooks = {},
): Promise<Accounts> => {
  const ledger = await openLedger(config, log);
  const receive = receiveUsage(ledger);
  const events = await openEvents(config, receive, log);
  const usage = openUsageLog({
    folder: journalFolder(config),
    events,
    sync: config.journalSync,
    maxBytes: config.journalMaxBytes,
    log,
    died,
  });
  const reading =
    config.kafka === undefined || config.billing === 'apart'
      ? undefined
      : await readUsage(config.kafka, receive, log);
  await Promise.all([logUnavailable(ledger, log), logUnavailable(events, log)]);
  return {
    usage,
    ledger,
    events,
    reading,
    close: async () => {
      await usage.close();
      await reading?.close();
      await events.close();
      await ledger.close();
    },
  };
};

export const journalFolder = ({ dataDir }: Pick<AccountsConfig, 'dataDir'>): string =>
  join(dataDir, 'journal');

const logUnavailable = async (service: { check(): Promise<void> }, log: Logger): Promise<void> => {
  try {
    await service.check();
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    log.error({ err: error }, `${sentence} Usage is kept in the journal until it can.`);
  }
};
