/** Sets, lists and clears the limits of a subscription, for administrators. */
import Value from 'typebox/value';
import { type LimitChanges, LimitNumbers } from '../../schemas/limits.ts';
import type { LimitsRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import { everyRecord, notice } from '../helpers/stored-records.ts';
import type { State } from '../ports/state.ts';

export const limitsKind = 'limits';

/** Models of one subscription with numbers of their own. */
const modelsLimit = 500;
/** Against changes by others. */
const attempts = 20;

export interface LimitsManagement {
  /** Numbers that are given take the place of the former ones, null removes one, others stay. Without a model they hold for all that have none of their own. */
  set(
    subscription: string,
    model: string | undefined,
    changes: LimitChanges,
    expect?: Expect,
  ): Promise<LimitsRecord>;
  /** Of every subscription that has any. */
  list(): Promise<readonly LimitsRecord[]>;
  /** Without a model, all of the subscription. False when there were none. */
  clear(subscription: string, model: string | undefined, expect?: Expect): Promise<boolean>;
}

/** Sees the record as it is when it is about to be changed, and may throw to leave it so. */
type Expect = (current: LimitsRecord) => void;

export const noLimits = (subscription: string): LimitsRecord => ({ subscription, all: {}, models: {} });

export const createLimitsManagement = (state: State): LimitsManagement => ({
  set: async (subscription, model, changes, expect) => {
    check(given(changes));
    return change(state, subscription, (record) => {
      expect?.(record);
      if (model === undefined) return { ...record, all: given({ ...record.all, ...changes }) };
      const { [model]: former, ...others } = record.models;
      const numbers = given({ ...former, ...changes });
      const isLeft = Object.keys(numbers).length > 0;
      return { ...record, models: isLeft ? { ...record.models, [model]: numbers } : others };
    });
  },

  list: async () => {
    const found: LimitsRecord[] = [];
    for await (const { value } of everyRecord<LimitsRecord>(state, limitsKind))
      if (hasNumbers(value)) found.push(value);
    return found;
  },

  clear: async (subscription, model, expect) => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const record = await state.get<LimitsRecord>(limitsKind, subscription);
      expect?.(record?.value ?? noLimits(subscription));
      if (record === undefined) return false;
      const { version, value } = record;
      if (model !== undefined && !Object.hasOwn(value.models, model)) return false;
      const { [model ?? '']: _, ...models } = value.models;
      const done =
        model === undefined
          ? await state.remove(limitsKind, subscription, version)
          : await state.update(limitsKind, subscription, version, { value: { ...value, models } });
      if (!done) continue;
      await notice(state, limitsKind);
      return true;
    }
    throw busy();
  },
});

/** Without what is removed. */
const given = (changes: LimitChanges): LimitNumbers =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null));

/** The last one cleared leaves a record without any. */
const hasNumbers = ({ all, models }: LimitsRecord): boolean =>
  Object.keys(all).length + Object.keys(models).length > 0;

const check = (numbers: LimitNumbers): void => {
  const [problem] = Value.Errors(LimitNumbers, numbers);
  if (problem === undefined) return;
  throw fail('invalid_request', `${problem.instancePath.slice(1)} ${problem.message}`);
};

/** By compare-and-set, trying again when another process was quicker. */
const change = async (
  state: State,
  subscription: string,
  edit: (record: LimitsRecord) => LimitsRecord,
): Promise<LimitsRecord> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const record = await state.get<LimitsRecord>(limitsKind, subscription);
    const value = edit(record?.value ?? noLimits(subscription));
    if (Object.keys(value.models).length > modelsLimit)
      throw fail('invalid_request', `A subscription can have limits of its own for ${modelsLimit} models`);
    const done =
      record === undefined
        ? await state.create(limitsKind, { id: subscription, owner: subscription, value })
        : await state.update(limitsKind, subscription, record.version, { value });
    if (!done) continue;
    await notice(state, limitsKind);
    return value;
  }
  throw busy();
};

const busy = () => fail('conflict', 'The limits are being changed by others: try again');
