/** Makes, lists, changes and removes budgets, for administrators. */
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import { BudgetChanges, type BudgetRecord, largestBudget, NewBudget } from '../../schemas/budgets.ts';
import { type ApiError, fail } from '../errors.ts';
import { nanodollars } from '../helpers/decimal.ts';
import { everyRecord, notice } from '../helpers/stored-records.ts';
import { createKeyManagement } from '../keys/manage.ts';
import { newId } from '../keys/secret.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import { isTimeZone } from './period.ts';

export const budgetKind = 'budget';

/** In all, and for one subscription, key or tag: each is looked at with every request that it is for. */
export const mostBudgets = 10_000;
const mostOfOne = 8;

/** Errors are `invalid_request`, which names the field, `not_found` and `conflict`. */
export interface BudgetsManagement {
  /** `subscription` may also be a name that only one has. */
  create(budget: NewBudget): Promise<BudgetRecord>;
  /** The oldest first. */
  list(): Promise<readonly BudgetRecord[]>;
  get(id: string): Promise<StoredRecord<BudgetRecord>>;
  /** With a version, only if it is still the stored one. */
  update(id: string, changes: BudgetChanges, version?: number): Promise<BudgetRecord>;
  remove(id: string, version?: number): Promise<BudgetRecord>;
}

export const createBudgetsManagement = (state: State, now: () => number = Date.now): BudgetsManagement => {
  const all = async (): Promise<readonly BudgetRecord[]> => {
    const found: BudgetRecord[] = [];
    for await (const { value } of everyRecord<BudgetRecord>(state, budgetKind)) found.push(value);
    return found;
  };

  const get = async (id: string): Promise<StoredRecord<BudgetRecord>> => {
    const record = await state.get<BudgetRecord>(budgetKind, id);
    if (record === undefined) throw fail('not_found', `There is no budget "${id}"`);
    return record;
  };

  return {
    create: async (budget) => {
      const { amount, period, time_zone = 'UTC', callback_url } = checked(NewBudget, budget);
      const target = await targetOf(state, budget);
      const record = checkedRecord({
        id: newId('bud'),
        ...target,
        amount,
        period,
        time_zone,
        ...(callback_url === undefined ? {} : { callback_url }),
        created: Math.floor(now() / 1000),
      });
      checkCount(await all(), record);
      await state.create(budgetKind, { id: record.id, owner: record.subscription ?? '', value: record });
      await notice(state, budgetKind);
      return record;
    },

    list: all,
    get,

    update: async (id, changes, version) => {
      checked(BudgetChanges, changes);
      for (let attempt = 0; attempt < 20; attempt++) {
        const record = await get(id);
        if (version !== undefined && version !== record.version) throw changedMeanwhile(id);
        const value = checkedRecord(withChanges(record.value, changes));
        if (!(await state.update(budgetKind, id, record.version, { value }))) continue;
        await notice(state, budgetKind);
        return value;
      }
      throw changedMeanwhile(id);
    },

    remove: async (id, version) => {
      const { value } = await get(id);
      if (!(await state.remove(budgetKind, id, version))) throw changedMeanwhile(id);
      await notice(state, budgetKind);
      return value;
    },
  };
};

type Target = Pick<BudgetRecord, 'subscription' | 'key' | 'tag'>;

/** Exactly one of the three; a tag may be that of one subscription's keys. */
const targetOf = async (state: State, { subscription, key, tag }: NewBudget): Promise<Target> => {
  const keys = createKeyManagement(state);
  if (key !== undefined) {
    if (subscription !== undefined || tag !== undefined)
      throw fail('invalid_request', 'key stands alone: a key has one subscription, and tags of its own');
    const found = await keys.findKey(key);
    return { subscription: found.subscription, key: found.id };
  }
  if (subscription === undefined && tag === undefined)
    throw fail('invalid_request', 'A budget is for a subscription, a key or a tag: name one');
  const id = subscription === undefined ? undefined : (await keys.findSubscription(subscription)).id;
  return {
    ...(id === undefined ? {} : { subscription: id }),
    ...(tag === undefined ? {} : { tag }),
  };
};

const withChanges = (record: BudgetRecord, { callback_url, ...changes }: BudgetChanges): BudgetRecord => {
  const { callback_url: former, ...rest } = record;
  const url = callback_url === undefined ? former : callback_url;
  return { ...rest, ...changes, ...(url === undefined || url === null ? {} : { callback_url: url }) };
};

const checkedRecord = (record: BudgetRecord): BudgetRecord => {
  const { amount, time_zone, callback_url, subscription } = record;
  const nano = nanodollars(amount);
  if (nano === 0 || nano > nanodollars(String(largestBudget)))
    throw fail('invalid_request', `amount must be more than 0 and at most ${largestBudget}`);
  if (!isTimeZone(time_zone))
    throw fail('invalid_request', 'time_zone must be the name of a time zone, such as UTC or Europe/Berlin');
  if (callback_url === undefined) return record;
  if (!/^https?:\/\/[^\s]+$/.test(callback_url) || !URL.canParse(callback_url))
    throw fail('invalid_request', 'callback_url must be an http or https URL');
  if (subscription === undefined)
    throw fail(
      'invalid_request',
      'callback_url needs a subscription beside the tag: its webhook secret signs what is sent',
    );
  return record;
};

const checkCount = (budgets: readonly BudgetRecord[], { subscription, key, tag }: BudgetRecord): void => {
  const same = budgets.filter(
    (other) => other.subscription === subscription && other.key === key && other.tag === tag,
  );
  if (budgets.length >= mostBudgets || same.length >= mostOfOne)
    throw fail(
      'invalid_request',
      `There can be ${mostOfOne} budgets for the same subscription, key or tag, and ${mostBudgets} in all`,
    );
};

const checked = <Schema extends TSchema, T>(schema: Schema, value: T): T => {
  const [problem] = Value.Errors(schema, value);
  if (problem === undefined) return value;
  const field = problem.instancePath.slice(1);
  throw fail('invalid_request', field === '' ? `A budget ${problem.message}` : `${field} ${problem.message}`);
};

const changedMeanwhile = (id: string): ApiError =>
  fail('conflict', `The budget ${id} was changed meanwhile: look at it again`);
