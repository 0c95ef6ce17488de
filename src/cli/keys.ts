/** `sluice keys …`: manages API keys, also while the gateway runs. */
import type { KeyRecord } from '../../schemas/records.ts';
import type { KeyManagement, NewKey } from '../keys/manage.ts';
import { type Command, type Input, json, type Option, UsageError } from './command.ts';
import { keySettings, readChanges, secondsOf } from './key-settings.ts';
import { numberWords } from './limit-numbers.ts';
import { minute, print, printJson, printTable, remark } from './output.ts';
import { targetOptions } from './remote/target.ts';
import { soon, withKeys } from './stores.ts';

const subscription: Option = { value: 'SUBSCRIPTION', help: 'id or name of a subscription' };

const create: Command = {
  name: 'keys create',
  summary: 'make a key and print its secret, this once',
  options: {
    subscription: { value: 'SUBSCRIPTION', help: 'id or name of the subscription it belongs to (default)' },
    ...keySettings,
    json,
    ...targetOptions,
  },
  run: (input) => {
    const changes = readChanges(input);
    return withKeys(input, async (keys) =>
      printSecret(
        input,
        await keys.createKey({ subscription: input.text('subscription') ?? 'default', ...changes }),
        'usable at once',
      ),
    );
  },
};

const printSecret = (input: Input, { secret, key }: NewKey, when: string): void => {
  if (input.given('json')) {
    printJson({ ...key, secret });
    return;
  }
  print(secret);
  remark(`This is ${key.id} of subscription ${key.subscription}, ${when}.`);
  remark('Shown once: keep it now, only its hash is stored.');
};

const list: Command = {
  name: 'keys list',
  summary: 'show keys, without their secrets',
  options: {
    subscription: { ...subscription, help: 'only those of this subscription' },
    json,
    ...targetOptions,
  },
  run: (input) =>
    withKeys(input, async (keys) => {
      const found = await keys.listKeys(input.text('subscription'));
      const uses = await keys.lastUses();
      if (input.given('json'))
        return printJson(found.map((key) => ({ ...key, last_used: uses.get(key.id) ?? null })));
      if (found.length === 0) return remark('No keys yet. Make one: sluice keys create --subscription NAME');
      const columns = shown(found, uses);
      printTable(
        columns.map(({ heading }) => heading),
        found.map((key) => columns.map(({ cell }) => cell(key))),
      );
    }),
};

/** Columns for what no key has are left out. */
const shown = (keys: readonly KeyRecord[], uses: ReadonlyMap<string, number>) => {
  const columns: readonly Column[] = [
    { heading: 'KEY', cell: ({ id }) => id },
    { heading: 'SUBSCRIPTION', cell: (key) => key.subscription },
    { heading: 'NAME', cell: ({ name }) => name },
    { heading: 'STATUS', cell: statusOf },
    { heading: 'CREATED (UTC)', cell: ({ created }) => minute(created) },
    { heading: 'LAST USED', cell: ({ id }) => minuteOrDash(uses.get(id)), spare: true },
    { heading: 'EXPIRES', cell: ({ expires }) => minuteOrDash(expires), spare: true },
    { heading: 'ONLY', cell: scopeWords, spare: true },
    { heading: 'LIMITS', cell: limitWords, spare: true },
    { heading: 'TAGS', cell: ({ tags }) => tags?.join(', ') ?? dash, spare: true },
    { heading: 'SECRET', cell: ({ display }) => display },
  ];
  return columns.filter(({ cell, spare }) => spare !== true || keys.some((key) => cell(key) !== dash));
};

interface Column {
  readonly heading: string;
  readonly cell: (key: KeyRecord) => string;
  readonly spare?: true;
}

const dash = '–';

const statusOf = ({ status, expires }: KeyRecord): string =>
  status === 'active' && expires !== undefined && expires * 1000 <= Date.now() ? 'expired' : status;

const minuteOrDash = (seconds: number | undefined): string =>
  seconds === undefined ? dash : minute(seconds);

/** What it is restricted to. */
const scopeWords = ({ models, routes, networks }: KeyRecord): string =>
  [models, routes, networks].flatMap((each) => each ?? []).join(', ') || dash;

const limitWords = ({ limits }: KeyRecord): string => numberWords(limits) || dash;

const update: Command = {
  name: 'keys update',
  operands: 'KEY',
  arity: [1, 1],
  summary: 'change what a key may be used for',
  details: "Settings that are not given stay; an empty one ('') is removed.",
  options: { ...keySettings, json, ...targetOptions },
  run: (input) => {
    const changes = readChanges(input);
    if (Object.keys(changes).length === 0) throw new UsageError('say what to change, such as --expires 30d');
    return withKeys(input, async (keys) => {
      const key = await keys.updateKey(input.operands[0] ?? '', changes);
      if (input.given('json')) return printJson(key);
      print(
        `${key.id} is changed. Only for: ${scopeWords(key)}. Limits: ${limitWords(key)}. Expires: ${minuteOrDash(key.expires)}.`,
      );
      remark(soon);
    });
  },
};

const rotate: Command = {
  name: 'keys rotate',
  operands: 'KEY',
  arity: [1, 1],
  summary: 'give a key a new secret; the former one works a while longer',
  options: {
    overlap: { value: 'TIME', help: 'how long: 0s, 90m, 24h (the default), 7d' },
    json,
    ...targetOptions,
  },
  run: (input) => {
    const overlap = secondsOf('overlap', input.text('overlap') ?? '24h');
    return withKeys(input, async (keys) =>
      printSecret(
        input,
        await keys.rotateKey(input.operands[0] ?? '', overlap),
        `usable at once; its former secret works until ${minute(Date.now() / 1000 + overlap)} UTC`,
      ),
    );
  },
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
    ...targetOptions,
  },
  run: (input) => {
    checkSelection(input);
    return withKeys(input, async (keys) => {
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
  update,
  rotate,
  changing('suspend', 'refuse a key until it is resumed', (keys, id) => keys.suspendKey(id)),
  changing('resume', 'accept a suspended key again', (keys, id) => keys.resumeKey(id)),
  changing('revoke', 'close a key for good', (keys, id) => keys.revokeKey(id)),
];
