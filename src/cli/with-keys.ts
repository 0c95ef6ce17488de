/** The keys that the gateway knows, running or not, for one piece of work on them. */
import { createKeyManagement, type KeyManagement } from '../keys/manage.ts';
import { withState } from './with-state.ts';

export const withKeys = <T>(work: (keys: KeyManagement) => Promise<T>): Promise<T> =>
  withState((state) => work(createKeyManagement(state)));

/** How soon a running gateway obeys. */
export const soon = 'A running gateway obeys within 5 seconds.';
