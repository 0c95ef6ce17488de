/** Opens the configured Ledger adapter. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Ledger } from '../../ports/ledger.ts';

export interface LedgerConfig {
  readonly dataDir: string;
  readonly clickHouseUrl: string | undefined;
  /** 0: for ever. Undefined: as it is. */
  readonly usageDays: number | undefined;
}

/**
 * With a log, this process maintains it: it removes old events and takes snapshots of closed days. Readers pass none.
 * The library of the other store is not loaded.
 */
export const openLedger = async (
  { dataDir, clickHouseUrl, usageDays }: LedgerConfig,
  log?: Logger,
): Promise<Ledger> => {
  if (clickHouseUrl !== undefined) {
    const { openClickHouseLedger } = await import('./clickhouse.ts');
    if (log === undefined) return openClickHouseLedger(clickHouseUrl);
    return openClickHouseLedger(clickHouseUrl, { retentionDays: usageDays, maintenanceLog: log });
  }
  const { openLibsqlLedger } = await import('./libsql.ts');
  const file = join(dataDir, 'ledger.db');
  return openLibsqlLedger(file, log && usageDays ? { days: usageDays, log } : undefined);
};
