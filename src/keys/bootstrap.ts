/** Creates the first key of a store, or the one from the configuration. */
import type { KeyRecord, SubscriptionRecord } from '../../schemas/records.ts';
import type { State } from '../ports/state.ts';
import { newKey, newSubscription } from './manage.ts';
import { notice, setStatus } from './records.ts';
import { displaySecret, hashSecret, maxSecretLength, newSecret } from './secret.ts';

/** The same on every replica, so that replicas that start together create one. */
const subscription = 'sub_default';

/**
 * Without `wanted`: creates a key when the store has none, and returns its secret, this once. Replicas that start
 * together on an empty store may each create one; all of them work.
 * With `wanted`: ensures that this key exists in the default subscription and is active; returns it if it was created
 * now. A revoked key stays revoked: that is an error for the operator.
 */
export const ensureBootstrapKey = async (state: State, wanted?: string): Promise<string | undefined> => {
  if (wanted === undefined) {
    const [any] = await state.list('key', { limit: 1, order: 'asc' });
    if (any !== undefined) return undefined;
  } else if (!/^[\x21-\x7e]+$/.test(wanted) || wanted.length < 16 || wanted.length > maxSecretLength) {
    throw new Error(`The bootstrap key must be 16 to ${maxSecretLength} visible ASCII characters.`);
  }
  await ensureSubscription(state);
  const secret = wanted ?? newSecret();
  const hash = hashSecret(secret);
  const value = { ...newKey(subscription, 'bootstrap'), display: displaySecret(secret) };
  if (await state.create('key', { id: hash, owner: subscription, value })) {
    await notice(state);
    return secret;
  }
  await ensureActive(state, hash);
  return undefined;
};

const ensureSubscription = async (state: State): Promise<void> => {
  const value = newSubscription(subscription, 'default');
  if (await state.create('subscription', { id: subscription, owner: subscription, value })) return;
  const found = await state.get<SubscriptionRecord>('subscription', subscription);
  if (found?.value.status === 'closed')
    throw new Error(`A bootstrap key cannot work: subscription ${subscription} is closed.`);
  await setStatus(state, 'subscription', subscription, 'active');
};

const ensureActive = async (state: State, hash: string): Promise<void> => {
  const key = (await state.get<KeyRecord>('key', hash))?.value;
  if (key?.status === 'closed')
    throw new Error(`The bootstrap key (${key.id}) was revoked and stays so: set another one.`);
  if (key !== undefined && key.subscription !== subscription)
    throw new Error(`The bootstrap key (${key.id}) belongs to subscription ${key.subscription}.`);
  await setStatus(state, 'key', hash, 'active');
};
