/** API keys: authentication and management. */
import type { Keys } from '../ports/keys.ts';
import type { State } from '../ports/state.ts';
import { type AuthenticatorSettings, createAuthenticator } from './authenticate.ts';
import { createKeyManagement, type KeyManagement } from './manage.ts';

export const createKeys = (state: State, settings?: AuthenticatorSettings): Keys & KeyManagement => ({
  authenticate: createAuthenticator(state, settings),
  ...createKeyManagement(state),
});
