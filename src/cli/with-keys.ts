/** Opens the store that the gateway uses, running or not, for one piece of work on its keys. */
import { openState } from '../adapters/state/open.ts';
import { loadConfig } from '../config.ts';
import { createKeyManagement, type KeyManagement } from '../keys/manage.ts';

export const withKeys = async <T>(work: (keys: KeyManagement) => Promise<T>): Promise<T> => {
  const state = await openState(loadConfig());
  try {
    return await work(createKeyManagement(state));
  } finally {
    await state.close();
  }
};

/** How soon a running gateway obeys. */
export const soon = 'A running gateway obeys within 5 seconds.';
