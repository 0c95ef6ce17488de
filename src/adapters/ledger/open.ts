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

// Each is loaded when chosen: the other's library costs a start nothing.
export const openLedger = async (
  { dataDir, clickHouseUrl, usageDays }: LedgerConfig,
  log: Logger,
): Promise<Ledger> => {
  if (clickHouseUrl !== undefined) {
    const { openClickHouseLedger } = await import('./clickhouse.ts');
    return openClickHouseLedger(clickHouseUrl, { retentionDays: usageDays });
  }
  const { openLibsqlLedger } = await import('./libsql.ts');
  const file = join(dataDir, 'ledger.db');
  return openLibsqlLedger(file, usageDays ? { days: usageDays, log } : undefined);
};
