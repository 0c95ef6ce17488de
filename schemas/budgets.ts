/** Budgets: US dollars that may be spent in a period. */
import Type, { type Static } from 'typebox';
import { Closed } from './shapes.ts';

export const budgetPeriods = ['day', 'week', 'month', 'total'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** Dollars: an allowance counts billionths of them in a number, and 2⁵³ of those are a little more. */
export const largestBudget = 9_000_000;

const text = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });

const settings = {
  amount: Type.String({
    pattern: '^(0|[1-9][0-9]{0,6})(\\.[0-9]{1,9})?$',
    description: `US dollars, a decimal in quotes such as '10' or '0.50', more than 0 and at most ${largestBudget}`,
  }),
  period: Type.Enum([...budgetPeriods], {
    description: 'weeks start on Monday; total: from when the budget was made',
  }),
  time_zone: text('in which days begin, such as Europe/Berlin; UTC by default'),
  callback_url: text(
    'gets a webhook at 50, 80 and 95 %; signed with the webhook secret of the subscription, which has to be known',
  ),
};

const target = {
  subscription: text('id of a subscription: all of its calls; beside a tag, only its keys'),
  key: text('id of a key'),
  tag: text('calls of all keys that have this tag, together'),
};

/** What an operator makes one from. */
export const NewBudget = Closed({
  ...Type.Partial(Type.Object(target)).properties,
  amount: settings.amount,
  period: settings.period,
  time_zone: Type.Optional(settings.time_zone),
  callback_url: Type.Optional(settings.callback_url),
});
export type NewBudget = Static<typeof NewBudget>;

/** What may change later; null removes the callback. */
export const BudgetChanges = Closed({
  amount: Type.Optional(settings.amount),
  period: Type.Optional(settings.period),
  time_zone: Type.Optional(settings.time_zone),
  callback_url: Type.Optional(Type.Union([settings.callback_url, Type.Null()])),
});
export type BudgetChanges = Static<typeof BudgetChanges>;

/** Kind `budget`, id `bud_…`. */
export const BudgetRecord = Type.Object({
  id: Type.String({ description: '`bud_…`' }),
  subscription: Type.Optional(
    Type.String({ description: 'Whose calls it is for; that of the key, where there is one' }),
  ),
  key: Type.Optional(Type.String({ description: 'Id of the key that it is for' })),
  tag: Type.Optional(Type.String({ description: 'Tag of the keys that it is for, together' })),
  amount: Type.String({ description: 'US dollars of a period, a decimal' }),
  period: settings.period,
  time_zone: Type.String({ description: 'In which days begin' }),
  callback_url: Type.Optional(Type.String({ description: 'Gets a webhook at 50, 80 and 95 %' })),
  created: Type.Integer({ description: 'Unix seconds' }),
});
export type BudgetRecord = Static<typeof BudgetRecord>;

/** What of it is used now. */
export const BudgetStatus = Type.Object({
  used: Type.String({ description: 'US dollars of this period, a decimal' }),
  reserved: Type.Union([Type.String(), Type.Null()], {
    description: 'US dollars that calls which run now may use; null: not known',
  }),
  left: Type.String({ description: 'US dollars, a decimal' }),
  resets: Type.Union([Type.Integer(), Type.Null()], { description: 'Unix seconds; null: never' }),
});
export type BudgetStatus = Static<typeof BudgetStatus>;
