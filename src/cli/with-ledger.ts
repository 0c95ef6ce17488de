/** Opens the ledger that the gateway fills, running or not, for one piece of work on it. */
import { openLedger } from '../adapters/ledger/open.ts';
import { type Config, loadConfig } from '../config.ts';
import type { Ledger } from '../ports/ledger.ts';

export const withLedger = async <T>(work: (ledger: Ledger, config: Config) => Promise<T>): Promise<T> => {
  const config = loadConfig();
  const ledger = await openLedger(config);
  try {
    await ledger.check();
    return await work(ledger, config);
  } finally {
    await ledger.close();
  }
};
