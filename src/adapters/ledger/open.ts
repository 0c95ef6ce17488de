/** Opens the configured Ledger adapter. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Ledger } from '../../ports/ledger.ts';
import type { ClickHouseSettings } from './clickhouse-settings.ts';

export interface LedgerConfig {
  readonly dataDir: string;
  /** Undefined: a file in the data folder. */
  readonly clickHouse: ClickHouseSettings | undefined;
  /** 0: for ever. Undefined: as it is. */
  readonly usageDays: number | undefined;
}

/**
 * With a log, this process maintains it: it removes old events and takes snapshots of closed days. Readers pass none.
 * The library of the other store is not loaded.
 */
export const openLedger = async (
  { dataDir, clickHouse, usageDays }: LedgerConfig,
  log?: Logger,
): Promise<Ledger> => {
  if (clickHouse !== undefined) {
    const { openClickHouseLedger } = await import('./clickhouse.ts');
    const { urls, cluster } = clickHouse;
    if (log === undefined) return openClickHouseLedger(urls, { cluster });
    return openClickHouseLedger(urls, { cluster, retentionDays: usageDays, maintenanceLog: log });
  }
  const { openLibsqlLedger } = await import('./libsql.ts');
  const file = join(dataDir, 'ledger.db');
  return openLibsqlLedger(file, log && usageDays ? { days: usageDays, log } : undefined);
};
