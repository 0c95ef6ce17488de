/** Sets, lists and clears the limits of a subscription, for administrators. */
import Value from 'typebox/value';
import { LimitNumbers } from '../../schemas/limits.ts';
import type { LimitsRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import type { State } from '../ports/state.ts';
import { everyRecord, notice } from '../stored-records.ts';

export const limitsKind = 'limits';

/** Models of one subscription with numbers of their own. */
const modelsLimit = 500;

export interface LimitsManagement {
  /** Numbers that are given take the place of the former ones, others stay. Without a model they hold for all that have none of their own. */
  set(subscription: string, model: string | undefined, numbers: LimitNumbers): Promise<LimitsRecord>;
  /** Of every subscription that has any. */
  list(): Promise<readonly LimitsRecord[]>;
  /** Without a model, all of the subscription. False when there were none. */
  clear(subscription: string, model: string | undefined): Promise<boolean>;
}

export const createLimitsManagement = (state: State): LimitsManagement => ({
  set: async (subscription, model, numbers) => {
    check(numbers);
    return change(state, subscription, (record) => ({
      ...record,
      ...(model === undefined
        ? { all: { ...record.all, ...numbers } }
        : { models: { ...record.models, [model]: { ...record.models[model], ...numbers } } }),
    }));
  },

  list: async () => {
    const found: LimitsRecord[] = [];
    for await (const { value } of everyRecord<LimitsRecord>(state, limitsKind))
      if (hasNumbers(value)) found.push(value);
    return found;
  },

  clear: async (subscription, model) => {
    const record = await state.get<LimitsRecord>(limitsKind, subscription);
    if (record === undefined) return false;
    if (model === undefined) await state.remove(limitsKind, subscription);
    else {
      if (!Object.hasOwn(record.value.models, model)) return false;
      await change(state, subscription, ({ models, ...rest }) => {
        const { [model]: _, ...others } = models;
        return { ...rest, models: others };
      });
    }
    await notice(state, limitsKind);
    return true;
  },
});

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
  for (let attempt = 0; attempt < 20; attempt++) {
    const record = await state.get<LimitsRecord>(limitsKind, subscription);
    const value = edit(record?.value ?? { subscription, all: {}, models: {} });
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
  throw fail('conflict', 'The limits are being changed by others: try again');
};
