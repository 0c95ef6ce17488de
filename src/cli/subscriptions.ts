/** `sluice subscriptions …`: manages the accounts that keys and usage belong to. */
import type { Status } from '../../schemas/records.ts';
import { type Command, json } from './command.ts';
import { minute, print, printJson, printTable, remark } from './output.ts';
import { targetOptions } from './remote/target.ts';
import { soon, withKeys } from './stores.ts';

const create: Command = {
  name: 'subscriptions create',
  operands: 'NAME',
  arity: [1, 1],
  summary: 'make a subscription and print its id',
  options: { json, ...targetOptions },
  run: (input) =>
    withKeys(
      input,
      async (keys) => {
        const subscription = await keys.createSubscription(input.operands[0] ?? '');
        if (input.given('json')) return printJson(subscription);
        print(subscription.id);
        remark(`Next, a key for it: sluice keys create --subscription ${subscription.id}`);
      },
      { mayCreate: true },
    ),
};

const list: Command = {
  name: 'subscriptions list',
  summary: 'show subscriptions',
  options: { json, ...targetOptions },
  run: (input) =>
    withKeys(input, async (keys) => {
      const found = await keys.listSubscriptions();
      if (input.given('json')) return printJson(found);
      if (found.length === 0)
        return remark('No subscriptions yet. Make one: sluice subscriptions create NAME');
      printTable(
        ['SUBSCRIPTION', 'NAME', 'STATUS', 'CREATED (UTC)'],
        found.map(({ id, name, status, created }) => [id, name, status, minute(created)]),
      );
    }),
};

const changing = (verb: string, summary: string, status: Status): Command => ({
  name: `subscriptions ${verb}`,
  operands: 'SUBSCRIPTION',
  arity: [1, 1],
  summary,
  details: 'SUBSCRIPTION is an id or a name.',
  options: { json, ...targetOptions },
  run: (input) =>
    withKeys(input, async (keys) => {
      const changed = await keys.setSubscriptionStatus(input.operands[0] ?? '', status);
      if (input.given('json')) return printJson(changed);
      print(`${changed.id} (${changed.name}) is ${changed.status}.`);
      remark(soon);
    }),
});

export const subscriptions: readonly Command[] = [
  create,
  list,
  changing('suspend', 'refuse all its keys until it is resumed', 'suspended'),
  changing('resume', 'accept the keys of a suspended one again', 'active'),
  changing('close', 'refuse all its keys for good', 'closed'),
];
