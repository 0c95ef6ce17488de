/** Records of keys and subscriptions: listed, changed by compare-and-set, and every change made known. */
import type { KeyRecord, Status, SubscriptionRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import { noticeOf as changesOf, everyRecord, notice as noteChange } from '../helpers/stored-records.ts';
import type { State } from '../ports/state.ts';

type Managed = KeyRecord | SubscriptionRecord;

/** Retries when another process was faster. `next` gives the record as it should be; itself: nothing changes. */
export const change = async <T extends Managed>(
  state: State,
  kind: 'key' | 'subscription',
  recordId: string,
  next: (value: T) => T,
): Promise<T> => {
  for (let attempt = 0; attempt < 20; attempt++) {
    const record = await state.get<T>(kind, recordId);
    if (record === undefined) return missing(kind, recordId);
    const value = next(record.value);
    if (value === record.value) return value;
    if (record.value.status === 'closed')
      throw fail('conflict', `${capitalised(kind)} ${record.value.id} is closed, which is final`);
    if (await state.update<T>(kind, recordId, record.version, { value })) {
      await notice(state);
      return value;
    }
  }
  throw fail('conflict', `${capitalised(kind)} is being changed by others: try again`);
};

export const setStatus = <T extends Managed>(
  state: State,
  kind: 'key' | 'subscription',
  recordId: string,
  status: Status,
  expect?: (current: T) => void,
): Promise<T> =>
  change<T>(state, kind, recordId, (value) => {
    expect?.(value);
    return value.status === status ? value : { ...value, status };
  });

/** Both kinds are copied together, and so have one notice. */
const noticeKind = 'keys';

export const notice = (state: State): Promise<void> => noteChange(state, noticeKind);

/** How many changes there have been; 0: none. */
export const noticeOf = (state: State): Promise<number> => changesOf(state, noticeKind);

export const missing = (kind: string, reference: string): never => {
  throw fail(
    'not_found',
    `There is no ${kind} ${kind === 'key' && !reference.startsWith('key_') ? 'with that secret' : `"${reference}"`}`,
  );
};

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export const values = async <T>(state: State, kind: string, owner?: string): Promise<T[]> => {
  const found: T[] = [];
  for await (const { value } of everyRecord<T>(state, kind, owner)) found.push(value);
  return found;
};
