/** `sluice keys …`: manages API keys, also while the gateway runs. */
import type { KeyRecord } from '../../schemas/records.ts';
import type { KeyManagement } from '../keys/manage.ts';
import { type Command, type Input, json, type Option, UsageError } from './command.ts';
import { minute, print, printJson, printTable, remark } from './output.ts';
import { soon, withKeys } from './stores.ts';

const subscription: Option = { value: 'SUBSCRIPTION', help: 'id or name of a subscription' };

const create: Command = {
  name: 'keys create',
  summary: 'make a key and print its secret, this once',
  options: {
    subscription: { value: 'SUBSCRIPTION', help: 'id or name of the subscription it belongs to (default)' },
    name: { value: 'NAME', help: 'what to call it in lists' },
    json,
  },
  run: (input) =>
    withKeys(async (keys) => {
      const name = input.text('name');
      const { secret, key } = await keys.createKey({
        subscription: input.text('subscription') ?? 'default',
        ...(name === undefined ? {} : { name }),
      });
      if (input.given('json')) return printJson({ ...key, secret });
      print(secret);
      remark(`This is ${key.id} of subscription ${key.subscription}, usable at once.`);
      remark('Shown once: keep it now, only its hash is stored.');
    }),
};

const list: Command = {
  name: 'keys list',
  summary: 'show keys, without their secrets',
  options: { subscription: { ...subscription, help: 'only those of this subscription' }, json },
  run: (input) =>
    withKeys(async (keys) => {
      const found = await keys.listKeys(input.text('subscription'));
      if (input.given('json')) return printJson(found);
      if (found.length === 0) return remark('No keys yet. Make one: sluice keys create --subscription NAME');
      printTable(
        ['KEY', 'SUBSCRIPTION', 'NAME', 'STATUS', 'CREATED (UTC)', 'SECRET'],
        found.map((key) => [
          key.id,
          key.subscription,
          key.name,
          key.status,
          minute(key.created),
          key.display,
        ]),
      );
    }),
};

type Change = (keys: KeyManagement, id: string) => Promise<KeyRecord>;

const changing = (verb: string, summary: string, change: Change): Command => ({
  name: `keys ${verb}`,
  operands: '[KEY…]',
  arity: [0, 100],
  summary,
  details: 'KEY is an id from `sluice keys list`, or the secret itself.',
  options: {
    subscription,
    name: { value: 'NAME', help: 'instead of KEY: the one key of that name in the subscription' },
    all: { help: 'instead of KEY: every key of the subscription' },
    json,
  },
  run: (input) => {
    checkSelection(input);
    return withKeys(async (keys) => {
      const changed: KeyRecord[] = [];
      for (const { id } of await selected(keys, input)) changed.push(await change(keys, id));
      if (input.given('json')) return printJson(changed);
      for (const key of changed) print(`${key.id}${key.name && ` (${key.name})`} is ${key.status}.`);
      remark(changed.length === 0 ? 'There is no key to change.' : soon);
    });
  },
});

const checkSelection = (input: Input): void => {
  const ways = [input.operands.length > 0, input.given('name'), input.given('all')].filter(Boolean).length;
  if (ways !== 1 || (input.operands.length === 0 && !input.given('subscription')))
    throw new UsageError('say which key: KEY, or --subscription with --name or --all');
};

const selected = async (keys: KeyManagement, input: Input): Promise<readonly KeyRecord[]> => {
  const reference = input.text('subscription');
  const owner = reference === undefined ? undefined : await keys.findSubscription(reference);
  if (input.operands.length > 0) {
    // All are looked up before the first is changed: a slip of the pen changes none.
    const found = await Promise.all(input.operands.map((operand) => keys.findKey(operand)));
    const foreign = found.find((key) => owner !== undefined && key.subscription !== owner.id);
    if (foreign !== undefined) throw new Error(`${foreign.id} is no key of subscription ${reference}`);
    return found;
  }
  const open = (await keys.listKeys(reference)).filter((key) => key.status !== 'closed');
  const name = input.text('name');
  if (name === undefined) return open;
  const named = open.filter((key) => key.name === name);
  if (named.length > 1)
    throw new Error(`Several keys of subscription ${reference} are named "${name}": use the id`);
  if (named.length === 0)
    throw new Error(`There is no open key named "${name}" in subscription ${reference}`);
  return named;
};

export const keys: readonly Command[] = [
  create,
  list,
  changing('suspend', 'refuse a key until it is resumed', (keys, id) => keys.suspendKey(id)),
  changing('resume', 'accept a suspended key again', (keys, id) => keys.resumeKey(id)),
  changing('revoke', 'close a key for good', (keys, id) => keys.revokeKey(id)),
];
