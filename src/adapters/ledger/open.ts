/** Configuration in; the Ledger it asks for out. */
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
 * With a log it is tended: old events go, totals of past days are kept. Whoever only looks leaves that to others.
 * The library of the store that was not chosen is not loaded.
 */
export const openLedger = async (
  { dataDir, clickHouseUrl, usageDays }: LedgerConfig,
  tending?: Logger,
): Promise<Ledger> => {
  if (clickHouseUrl !== undefined) {
    const { openClickHouseLedger } = await import('./clickhouse.ts');
    if (tending === undefined) return openClickHouseLedger(clickHouseUrl);
    return openClickHouseLedger(clickHouseUrl, { retentionDays: usageDays, tending });
  }
  const { openLibsqlLedger } = await import('./libsql.ts');
  const file = join(dataDir, 'ledger.db');
  return openLibsqlLedger(file, tending && usageDays ? { days: usageDays, log: tending } : undefined);
};
