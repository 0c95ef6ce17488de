/** `sluice limits …`: manages the limits of single subscriptions, also while the gateway runs. */
import { type LimitNumbers, tokenKinds } from '../../schemas/limits.ts';
import type { LimitsRecord } from '../../schemas/records.ts';
import type { KeyManagement } from '../keys/manage.ts';
import type { LimitsManagement } from '../limits/manage.ts';
import { type Command, type Input, json, type Option, UsageError } from './command.ts';
import { kinds, limitOptions, readNumbers } from './limit-numbers.ts';
import { listedModels } from './models.ts';
import { print, printJson, remark, table } from './output.ts';
import { targetOptions } from './remote/target.ts';
import { soon, withManagement } from './stores.ts';

const subscription: Option = { value: 'SUBSCRIPTION', help: 'id or name of a subscription' };
const model: Option = { value: 'MODEL', help: 'id of a model; without it, all models' };

const set: Command = {
  name: 'limits set',
  summary: "give a subscription limits of its own, in place of the catalog's",
  details:
    'What is not given stays as it is. Limits for one model come before those for all models, which come before the catalog.',
  options: {
    subscription,
    model,
    ...limitOptions,
    json,
    ...targetOptions,
  },
  run: (input) => {
    const numbers = numbersOf(input);
    return withLimits(input, async (limits, keys) => {
      const { id } = await keys.findSubscription(subscriptionOf(input));
      const record = await limits.set(id, input.text('model'), numbers);
      if (input.given('json')) return printJson(record);
      print(limitsTable([record]));
      await warnOfUnknown(input);
      remark(soon);
    });
  },
};

const list: Command = {
  name: 'limits list',
  summary: 'show the limits that subscriptions have of their own',
  options: {
    subscription: { ...subscription, help: 'only those of this subscription' },
    json,
    ...targetOptions,
  },
  run: (input) =>
    withLimits(input, async (limits, keys) => {
      const reference = input.text('subscription');
      const only = reference === undefined ? undefined : (await keys.findSubscription(reference)).id;
      const found = (await limits.list()).filter((each) => only === undefined || each.subscription === only);
      if (input.given('json')) return printJson(found);
      if (found.length === 0) return remark('None: the limits in the catalog hold.');
      print(limitsTable(found));
    }),
};

const clear: Command = {
  name: 'limits clear',
  summary: "go back to the catalog's limits",
  options: { subscription, model: { ...model, help: 'only those for this model' }, json, ...targetOptions },
  run: (input) =>
    withLimits(input, async (limits, keys) => {
      const { id } = await keys.findSubscription(subscriptionOf(input));
      const cleared = await limits.clear(id, input.text('model'));
      if (input.given('json')) return printJson({ subscription: id, cleared });
      remark(cleared ? soon : `Subscription ${id} has no such limits of its own.`);
    }),
};

const subscriptionOf = (input: Input): string => {
  const reference = input.text('subscription');
  if (reference === undefined) throw new UsageError('say whose: --subscription SUBSCRIPTION');
  return reference;
};

const numbersOf = (input: Input): LimitNumbers => {
  subscriptionOf(input);
  const numbers = readNumbers(input, false) as LimitNumbers;
  if (Object.keys(numbers).length === 0)
    throw new UsageError(
      `say what to limit, at least one of ${kinds.map(([, { option }]) => `--${option} NUMBER`).join(', ')}`,
    );
  return numbers;
};

/** Columns for limits on tokens only where there are any. */
const limitsTable = (records: readonly LimitsRecord[]): string => {
  const rows = records.flatMap(({ subscription, all, models }) => [
    ...(Object.keys(all).length === 0 ? [] : [{ subscription, model: '(all)', numbers: all }]),
    ...Object.entries(models).map(([model, numbers]) => ({ subscription, model, numbers })),
  ]);
  const shown = kinds.filter(
    ([kind]) => !isTokenKind(kind) || rows.some(({ numbers }) => numbers[kind] !== undefined),
  );
  return table(
    ['SUBSCRIPTION', 'MODEL', ...shown.map(([, { option }]) => option.toUpperCase())],
    rows.map(({ subscription, model, numbers }) => [
      subscription,
      model,
      ...shown.map(([kind]) => String(numbers[kind] ?? '–')),
    ]),
  );
};

const isTokenKind = (kind: string): boolean => (tokenKinds as readonly string[]).includes(kind);

/** It may come with tomorrow's catalog; more often it is a typo. */
const warnOfUnknown = async (input: Input): Promise<void> => {
  const id = input.text('model');
  if (id === undefined) return;
  if (!(await listedModels(input)).some((each) => each.id === id))
    remark(`The catalog has no model ${id} yet.`);
};

const withLimits = (
  input: Input,
  work: (limits: LimitsManagement, keys: KeyManagement) => Promise<void>,
): Promise<void> => withManagement(input, ({ limits, keys }) => work(limits, keys));

export const limits: readonly Command[] = [set, list, clear];
