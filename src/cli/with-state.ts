/** Opens the store that the gateway uses, running or not, for one piece of work on it. */
import { openState } from '../adapters/state/open.ts';
import { loadConfig } from '../config.ts';
import type { State } from '../ports/state.ts';

export const withState = async <T>(work: (state: State) => Promise<T>): Promise<T> => {
  const state = await openState(loadConfig());
  try {
    return await work(state);
  } finally {
    await state.close();
  }
};
