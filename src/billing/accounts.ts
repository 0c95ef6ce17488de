/** Configuration in; where usage is recorded and asked for out: journal, events, ledger, and the reading between the last two. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type EventsConfig, openEvents, readUsage } from '../adapters/events/open.ts';
import { type LedgerConfig, openLedger } from '../adapters/ledger/open.ts';
import type { Events, Reading } from '../ports/events.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { SyncPolicy } from './journal/writer.ts';
import { receiveUsage } from './receive-usage.ts';
import { type JournaledUsage, openUsageLog } from './usage-log.ts';

export interface AccountsConfig extends LedgerConfig, EventsConfig {
  readonly billing: 'inside' | 'apart';
  readonly journalSync: SyncPolicy;
  readonly journalMaxBytes: number;
}

export interface Accounts {
  readonly usage: JournaledUsage;
  readonly ledger: Ledger;
  readonly events: Events;
  /** Undefined where usage is not read from Kafka by this process. */
  readonly reading: Reading | undefined;
  close(): Promise<void>;
}

/**
 * A service that does not answer is told of and waited for: the journal keeps what is used meanwhile, so a gateway that
 * restarts during an outage serves on.
 */
export const openAccounts = async (config: AccountsConfig, log: Logger): Promise<Accounts> => {
  const ledger = await openLedger(config, log);
  const receive = receiveUsage(ledger);
  const events = await openEvents(config, receive, log);
  const usage = openUsageLog({
    folder: journalFolder(config),
    events,
    sync: config.journalSync,
    maxBytes: config.journalMaxBytes,
    log,
  });
  const reading =
    config.kafka === undefined || config.billing === 'apart'
      ? undefined
      : await readUsage(config.kafka, receive, log);
  await Promise.all([tellOfTrouble(ledger, log), tellOfTrouble(events, log)]);
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

const tellOfTrouble = async (service: { check(): Promise<void> }, log: Logger): Promise<void> => {
  try {
    await service.check();
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    log.error({ err: error }, `${sentence} Usage is kept in the journal until it can.`);
  }
};
