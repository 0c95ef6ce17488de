/** `sluice budgets …`: manages budgets, also while the gateway runs. */
import type { AdminBudget } from '../../schemas/admin/budgets.ts';
import type { BudgetChanges, BudgetRecord, NewBudget } from '../../schemas/budgets.ts';
import type { BudgetManagement } from '../admin/management.ts';
import { createBudgetsManagement } from '../budgets/manage.ts';
import { type BudgetWithStatus, budgetsInLedger } from '../budgets/status.ts';
import type { Ledger } from '../ports/ledger.ts';
import { type Command, type Input, json, type Option, UsageError } from './command.ts';
import { minute, print, printJson, printTable, remark } from './output.ts';
import { GatewayClient } from './remote/gateway-client.ts';
import { gatewayOf, targetOptions } from './remote/target.ts';
import { hasLedger, soon, withLedger, withManagement, withState } from './stores.ts';

const settings: Readonly<Record<string, Option>> = {
  amount: { value: 'DOLLARS', help: 'how much may be spent in each period: 10 or 0.50' },
  period: { value: 'PERIOD', help: 'day, week (from Monday), month or total' },
  'time-zone': { value: 'ZONE', help: 'in which days begin: Europe/Berlin (UTC)' },
  'callback-url': { value: 'URL', help: 'gets a webhook when 50, 80 and 95 % are used' },
};

const create: Command = {
  name: 'budgets create',
  summary: 'limit the dollars that a subscription, a key or the keys with a tag may spend',
  options: {
    subscription: { value: 'SUBSCRIPTION', help: 'id or name; beside --tag, only its keys' },
    key: { value: 'KEY', help: 'id of a key' },
    tag: { value: 'TAG', help: 'all keys that have it, together' },
    ...settings,
    json,
    ...targetOptions,
  },
  run: (input) => {
    for (const name of ['amount', 'period'])
      if (!input.given(name)) throw new UsageError(`say how much: --amount DOLLARS --period PERIOD`);
    return withBudgets(input, async (budgets) => {
      const targets = given(input, { subscription: 'subscription', key: 'key', tag: 'tag' });
      const budget = await budgets.create({ ...targets, ...readSettings(input) } as NewBudget);
      if (input.given('json')) return printJson(budget);
      print(sentence(budget));
      remark(soon);
    });
  },
};

const list: Command = {
  name: 'budgets list',
  summary: 'show budgets and what of them is spent, as far as it is in the ledger',
  options: { json, ...targetOptions },
  run: async (input) => {
    const found = await budgetsOf(input);
    if (input.given('json')) return printJson(found);
    if (found.length === 0) return remark('No budgets. Make one: sluice budgets create --help');
    printTable(
      ['BUDGET', 'FOR', 'USD', 'PERIOD', 'TIME ZONE', 'SPENT', 'LEFT', 'RESETS (UTC)'],
      found.map(row),
    );
  },
};

/** A gateway knows what calls that run now have reserved. */
const budgetsOf = async (input: Input): Promise<readonly BudgetWithStatus[]> => {
  const gateway = gatewayOf(input);
  if (gateway !== undefined) {
    const found = await new GatewayClient(gateway).all<AdminBudget>('/budgets');
    return found.map(({ object: _, ...budget }) => budget);
  }
  return withState(async (state) => {
    const budgets = await createBudgetsManagement(state).list();
    const look = (ledger: Pick<Ledger, 'totals'>) => budgetsInLedger({ state, ledger }, budgets);
    return hasLedger() ? withLedger(look) : look(nothingUsed);
  });
};

const nothingUsed: Pick<Ledger, 'totals'> = { totals: async () => [] };

const update: Command = {
  name: 'budgets update',
  operands: 'BUDGET',
  arity: [1, 1],
  summary: 'change a budget; what was spent in its period stays',
  details: "Settings that are not given stay; an empty callback URL ('') is removed.",
  options: { ...settings, json, ...targetOptions },
  run: (input) => {
    const changes = readSettings(input);
    if (Object.keys(changes).length === 0) throw new UsageError('say what to change, such as --amount 20');
    return withBudgets(input, async (budgets) => {
      const budget = await budgets.update(input.operands[0] ?? '', changes);
      if (input.given('json')) return printJson(budget);
      print(sentence(budget));
      remark(soon);
    });
  },
};

const remove: Command = {
  name: 'budgets remove',
  operands: 'BUDGET…',
  arity: [1, 100],
  summary: 'remove budgets',
  options: { json, ...targetOptions },
  run: (input) =>
    withBudgets(input, async (budgets) => {
      const removed: BudgetRecord[] = [];
      for (const id of input.operands) removed.push(await budgets.remove(id));
      if (input.given('json')) return printJson(removed);
      for (const { id } of removed) print(`${id} is removed.`);
      remark(soon);
    }),
};

const given = (input: Input, names: Readonly<Record<string, string>>): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const [option, field] of Object.entries(names)) {
    const text = input.text(option);
    if (text !== undefined) found[field] = text;
  }
  return found;
};

const readSettings = (input: Input): BudgetChanges => {
  const names = { amount: 'amount', period: 'period', 'time-zone': 'time_zone' };
  const url = input.text('callback-url');
  return {
    ...given(input, names),
    ...(url === undefined ? {} : { callback_url: url === '' ? null : url }),
  };
};

const targetOf = ({ subscription, key, tag }: BudgetRecord): string => {
  if (key !== undefined) return key;
  if (tag === undefined) return subscription ?? '';
  return subscription === undefined ? `#${tag}` : `#${tag} of ${subscription}`;
};

const sentence = (budget: BudgetRecord): string => {
  const { id, amount, period, time_zone } = budget;
  return `${id}: ${amount} USD ${period === 'total' ? 'in all' : `a ${period} (${time_zone})`} for ${targetOf(budget)}.`;
};

const row = (budget: BudgetWithStatus): readonly string[] => [
  budget.id,
  targetOf(budget),
  budget.amount,
  budget.period,
  budget.time_zone,
  budget.used,
  budget.left,
  budget.resets === null ? 'never' : minute(budget.resets),
];

const withBudgets = (input: Input, work: (budgets: BudgetManagement) => Promise<void>): Promise<void> =>
  withManagement(input, ({ budgets }) => work(budgets));

export const budgets: readonly Command[] = [create, list, update, remove];
