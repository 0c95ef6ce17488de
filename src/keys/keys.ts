/** The State port in; API keys out: who a secret belongs to, and their administration. */
import type { Keys } from '../ports/keys.ts';
import type { State } from '../ports/state.ts';
import { type AuthenticatorSettings, createAuthenticator } from './authenticate.ts';
import { createKeyManagement, type KeyManagement } from './manage.ts';

export const createKeys = (state: State, settings?: AuthenticatorSettings): Keys & KeyManagement => ({
  authenticate: createAuthenticator(state, settings),
  ...createKeyManagement(state),
});
