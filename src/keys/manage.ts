/** Manages keys and subscriptions: create, list, change, rotate, suspend, resume, close. */
import type { KeyRecord, Status, SubscriptionRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import { everyRecord } from '../helpers/stored-records.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import { lastUses } from './last-used.ts';
import { change, missing, notice, setStatus, values } from './records.ts';
import { displaySecret, hashSecret, newId, newSecret } from './secret.ts';
import { changed, type KeyChanges } from './settings.ts';

export interface NewKey {
  /** Shown now and never again: only its hash is kept. */
  readonly secret: string;
  readonly key: KeyRecord;
}

/**
 * Sees a record as it is when it is about to be changed, and may throw to leave it so; again where somebody else was
 * faster.
 */
export type Expect<T> = (current: T) => void;

/**
 * `reference` is an id, or for keys also the secret itself or `sha256:` and its hash in hex, for subscriptions also a
 * name that only one has.
 */
export interface KeyManagement {
  createSubscription(name: string): Promise<SubscriptionRecord>;
  findSubscription(reference: string): Promise<SubscriptionRecord>;
  listSubscriptions(): Promise<readonly SubscriptionRecord[]>;
  setSubscriptionStatus(
    reference: string,
    status: Status,
    expect?: Expect<SubscriptionRecord>,
  ): Promise<SubscriptionRecord>;
  createKey(options: { subscription: string } & KeyChanges): Promise<NewKey>;
  updateKey(reference: string, changes: KeyChanges, expect?: Expect<KeyRecord>): Promise<KeyRecord>;
  /** A new secret for the same key; the former one works for `overlap` more seconds. */
  rotateKey(reference: string, overlap: number, expect?: Expect<KeyRecord>): Promise<NewKey>;
  findKey(reference: string): Promise<KeyRecord>;
  /** While a key is rotated, both of its secrets are listed. */
  listKeys(subscription?: string): Promise<readonly KeyRecord[]>;
  /** Unix seconds by id of the key. */
  lastUses(): Promise<ReadonlyMap<string, number>>;
  suspendKey(reference: string, expect?: Expect<KeyRecord>): Promise<KeyRecord>;
  resumeKey(reference: string, expect?: Expect<KeyRecord>): Promise<KeyRecord>;
  /** Final: a closed key stays closed. */
  revokeKey(reference: string, expect?: Expect<KeyRecord>): Promise<KeyRecord>;
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

  /** Those of one key: more than one while it is rotated, the newest first. Named by its secret, only that one. */
  const recordsOf = async (reference: string): Promise<readonly StoredRecord<KeyRecord>[]> => {
    const found: StoredRecord<KeyRecord>[] = [];
    if (!reference.startsWith('key_')) {
      const hash = reference.startsWith('sha256:') ? reference.slice(7) : hashSecret(reference);
      const record = await state.get<KeyRecord>('key', hash);
      if (record !== undefined) found.push(record);
    } else {
      for await (const record of everyRecord<KeyRecord>(state, 'key'))
        if (record.value.id === reference) found.unshift(record);
    }
    return found.length === 0 ? missing('key', reference) : found;
  };

  /** All secrets of the key change alike, but each keeps the end of its own. */
  const changeKey = async (
    reference: string,
    next: (key: KeyRecord) => KeyRecord,
    expect?: Expect<KeyRecord>,
  ): Promise<KeyRecord> => {
    const [newest, ...former] = await recordsOf(reference);
    const value = await change<KeyRecord>(state, 'key', newest?.id ?? '', (key) => {
      expect?.(key);
      return next(key);
    });
    for (const { id, value: key } of former)
      if (key.status !== 'closed')
        await change<KeyRecord>(state, 'key', id, (former) => withEnd(next(former), former));
    return value;
  };

  const setKeyStatus = (status: Status) => (reference: string, expect?: Expect<KeyRecord>) =>
    changeKey(reference, (key) => (key.status === status ? key : { ...key, status }), expect);

  const store = async (key: Omit<KeyRecord, 'display'>): Promise<NewKey> => {
    const secret = newSecret();
    const value = { ...key, display: displaySecret(secret) };
    await state.create('key', { id: hashSecret(secret), owner: key.subscription, value });
    await notice(state);
    return { secret, key: value };
  };

  return {
    createSubscription: async (name) => {
      const value = newSubscription(newId('sub'), name);
      await state.create('subscription', { id: value.id, owner: value.id, value });
      await notice(state);
      return value;
    },

    findSubscription: subscriptionOf,
    listSubscriptions: () => values<SubscriptionRecord>(state, 'subscription'),

    setSubscriptionStatus: async (reference, status, expect) =>
      setStatus<SubscriptionRecord>(
        state,
        'subscription',
        (await subscriptionOf(reference)).id,
        status,
        expect,
      ),

    createKey: async ({ subscription, name = '', ...settings }) => {
      const { id, status } = await subscriptionOf(subscription);
      if (status === 'closed') throw fail('conflict', `Subscription ${id} is closed`);
      return store({ ...newKey(id, name), ...changed({}, settings) });
    },

    updateKey: (reference, changes, expect) =>
      changeKey(
        reference,
        ({ id, name, subscription, status, created, display, ...settings }) => ({
          ...{ id, subscription, status, created, display },
          name: changes.name === undefined ? name : checkedName(changes.name),
          ...changed(settings, changes),
        }),
        expect,
      ),

    rotateKey: async (reference, overlap, expect) => {
      const [newest] = await recordsOf(reference);
      if (newest === undefined || newest.value.status === 'closed')
        throw fail('conflict', `Key ${newest?.value.id} is closed, which is final`);
      expect?.(newest.value);
      const now = Math.floor(Date.now() / 1000);
      const until = now + overlap;
      const rotated = await store({ ...newest.value, created: now });
      const end = (key: KeyRecord): KeyRecord => ({ ...key, expires: Math.min(key.expires ?? until, until) });
      await change<KeyRecord>(state, 'key', newest.id, end);
      return rotated;
    },

    lastUses: () => lastUses(state),

    findKey: async (reference) => (await recordsOf(reference))[0]?.value ?? missing('key', reference),

    listKeys: async (subscription) =>
      values<KeyRecord>(
        state,
        'key',
        subscription === undefined ? undefined : (await subscriptionOf(subscription)).id,
      ),

    suspendKey: setKeyStatus('suspended'),
    resumeKey: setKeyStatus('active'),
    revokeKey: setKeyStatus('closed'),
  };
};

export const newSubscription = (id: string, name: string): SubscriptionRecord => ({
  id,
  name: checkedName(name),
  status: 'active',
  created: Math.floor(Date.now() / 1000),
});

export const newKey = (subscription: string, name: string): Omit<KeyRecord, 'display'> => ({
  id: newId('key'),
  name: name === '' ? '' : checkedName(name),
  subscription,
  status: 'active',
  created: Math.floor(Date.now() / 1000),
});

/** The secret that a rotation replaced ends when that said, whatever the key's own end. */
const withEnd = (key: KeyRecord, { expires }: KeyRecord): KeyRecord =>
  expires === undefined || key.expires === expires ? key : { ...key, expires };

/** Fits into one line of a table on a terminal. */
const checkedName = (name: string): string => {
  if (!/^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(name) || name.trim() !== name)
    throw fail('invalid_request', 'name must be 1 to 100 printable characters without spaces at the ends');
  return name;
};
