/** Opens the stores of the gateway, running or not, for one piece of work on them. */
import { openLedger } from '../adapters/ledger/open.ts';
import { openState } from '../adapters/state/open.ts';
import { type Config, loadConfig } from '../config.ts';
import { createKeyManagement, type KeyManagement } from '../keys/manage.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';

export const withState = async <T>(work: (state: State) => Promise<T>): Promise<T> => {
  const state = await openState(loadConfig());
  try {
    return await work(state);
  } finally {
    await state.close();
  }
};

export const withKeys = <T>(work: (keys: KeyManagement) => Promise<T>): Promise<T> =>
  withState((state) => work(createKeyManagement(state)));

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

/** How soon a running gateway applies a change. */
export const soon = 'A running gateway obeys within 5 seconds.';
