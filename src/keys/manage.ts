/** Manages keys and subscriptions: create, list, suspend, resume, close. */
import type { KeyRecord, Status, SubscriptionRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import { displaySecret, hashSecret, newId, newSecret } from './secret.ts';

interface NewKey {
  /** Shown now and never again: only its hash is kept. */
  readonly secret: string;
  readonly key: KeyRecord;
}

/** `reference` is an id, or for keys also the secret itself, for subscriptions also a name that only one has. */
export interface KeyManagement {
  createSubscription(name: string): Promise<SubscriptionRecord>;
  findSubscription(reference: string): Promise<SubscriptionRecord>;
  listSubscriptions(): Promise<readonly SubscriptionRecord[]>;
  setSubscriptionStatus(reference: string, status: Status): Promise<SubscriptionRecord>;
  createKey(options: { subscription: string; name?: string }): Promise<NewKey>;
  findKey(reference: string): Promise<KeyRecord>;
  listKeys(subscription?: string): Promise<readonly KeyRecord[]>;
  suspendKey(reference: string): Promise<KeyRecord>;
  resumeKey(reference: string): Promise<KeyRecord>;
  /** Final: a closed key stays closed. */
  revokeKey(reference: string): Promise<KeyRecord>;
}

export const createKeyManagement = (state: State): KeyManagement => {
  const subscriptionOf = async (reference: string): Promise<SubscriptionRecord> => {
    const byId = await state.get<SubscriptionRecord>('subscription', reference);
    if (byId !== undefined) return byId.value;
    const named: SubscriptionRecord[] = [];
    for await (const { value } of everyRecord<SubscriptionRecord>(state, 'subscription'))
      if (value.name === reference) named.push(value);
    if (named.length > 1)
      throw fail('conflict', `Several subscriptions are named "${reference}": use the id`);
    return named[0] ?? missing('subscription', reference);
  };

  const keyOf = async (reference: string): Promise<StoredRecord<KeyRecord>> => {
    if (!reference.startsWith('key_'))
      return (await state.get<KeyRecord>('key', hashSecret(reference))) ?? missing('key', reference);
    for await (const record of everyRecord<KeyRecord>(state, 'key'))
      if (record.value.id === reference) return record;
    return missing('key', reference);
  };

  const setKeyStatus = async (reference: string, status: Status): Promise<KeyRecord> =>
    setStatus<KeyRecord>(state, 'key', (await keyOf(reference)).id, status);

  return {
    createSubscription: async (name) => {
      const value = newSubscription(newId('sub'), name);
      await state.create('subscription', { id: value.id, owner: value.id, value });
      await notice(state);
      return value;
    },

    findSubscription: subscriptionOf,
    listSubscriptions: () => values<SubscriptionRecord>(state, 'subscription'),

    setSubscriptionStatus: async (reference, status) =>
      setStatus<SubscriptionRecord>(state, 'subscription', (await subscriptionOf(reference)).id, status),

    createKey: async ({ subscription, name = '' }) => {
      const { id, status } = await subscriptionOf(subscription);
      if (status === 'closed') throw fail('conflict', `Subscription ${id} is closed`);
      const secret = newSecret();
      const key = newKey(secret, id, name);
      await state.create('key', { id: hashSecret(secret), owner: id, value: key });
      await notice(state);
      return { secret, key };
    },

    findKey: async (reference) => (await keyOf(reference)).value,

    listKeys: async (subscription) =>
      values<KeyRecord>(
        state,
        'key',
        subscription === undefined ? undefined : (await subscriptionOf(subscription)).id,
      ),

    suspendKey: (reference) => setKeyStatus(reference, 'suspended'),
    resumeKey: (reference) => setKeyStatus(reference, 'active'),
    revokeKey: (reference) => setKeyStatus(reference, 'closed'),
  };
};

export const newSubscription = (id: string, name: string): SubscriptionRecord => ({
  id,
  name: checkedName(name),
  status: 'active',
  created: Math.floor(Date.now() / 1000),
});

export const newKey = (secret: string, subscription: string, name: string): KeyRecord => ({
  id: newId('key'),
  name: name === '' ? '' : checkedName(name),
  subscription,
  status: 'active',
  created: Math.floor(Date.now() / 1000),
  display: displaySecret(secret),
});

/** Sets the status by compare-and-set, and retries when another process was faster. */
export const setStatus = async <T extends KeyRecord | SubscriptionRecord>(
  state: State,
  kind: 'key' | 'subscription',
  recordId: string,
  status: Status,
): Promise<T> => {
  for (let attempt = 0; attempt < 20; attempt++) {
    const record = await state.get<T>(kind, recordId);
    if (record === undefined) return missing(kind, recordId);
    if (record.value.status === status) return record.value;
    if (record.value.status === 'closed')
      throw fail('conflict', `${capitalised(kind)} ${record.value.id} is closed, which is final`);
    const value: T = { ...record.value, status };
    if (await state.update<T>(kind, recordId, record.version, { value })) {
      await notice(state);
      return value;
    }
  }
  throw fail('conflict', `${capitalised(kind)} is being changed by others: try again`);
};

/** A record that changes with every change of keys and subscriptions: who copies them need not look at them all. */
const noticeKind = 'keys-notice';
const noticeId = 'latest';

export const notice = async (state: State): Promise<void> => {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await state.create(noticeKind, { id: noticeId, owner: '', value: null })) return;
    const latest = await state.get(noticeKind, noticeId);
    if (latest !== undefined && (await state.update(noticeKind, noticeId, latest.version, { value: null })))
      return;
  }
};

/** How many changes there have been; 0: none. */
export const noticeOf = async (state: State): Promise<number> =>
  (await state.get(noticeKind, noticeId))?.version ?? 0;

const missing = (kind: string, reference: string): never => {
  throw fail(
    'not_found',
    `There is no ${kind} ${kind === 'key' && !reference.startsWith('key_') ? 'with that secret' : `"${reference}"`}`,
  );
};

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Fits into one line of a table on a terminal. */
const checkedName = (name: string): string => {
  if (!/^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(name) || name.trim() !== name)
    throw fail('invalid_request', 'name must be 1 to 100 printable characters without spaces at the ends');
  return name;
};

export async function* everyRecord<T>(
  state: State,
  kind: string,
  owner?: string,
): AsyncGenerator<StoredRecord<T>> {
  const limit = 500;
  let after: string | undefined;
  for (;;) {
    const page = await state.list<T>(kind, {
      limit,
      order: 'asc',
      ...(owner === undefined ? {} : { owner }),
      ...(after === undefined ? {} : { after }),
    });
    yield* page;
    after = page.at(-1)?.id;
    if (page.length < limit) return;
  }
}

const values = async <T>(state: State, kind: string, owner?: string): Promise<T[]> => {
  const found: T[] = [];
  for await (const { value } of everyRecord<T>(state, kind, owner)) found.push(value);
  return found;
};
