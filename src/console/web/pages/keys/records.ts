/** The records of this page: subscriptions, keys, limits and budgets. */
import type { Static } from 'typebox';
import type { AdminLimits } from '../../../../../schemas/admin/limits.ts';
import type { AdminSubscription } from '../../../../../schemas/admin/subscriptions.ts';
import type { LimitKind } from '../../../../../schemas/limits.ts';

export type { AdminBudget } from '../../../../../schemas/admin/budgets.ts';
export type { AdminKey } from '../../../../../schemas/admin/keys.ts';
export type Subscription = Static<typeof AdminSubscription>;
export type Limits = Static<typeof AdminLimits>;

/** Records of a list that are read; those beyond are found by subscription or by id. */
export const mostRecords = 1000;

/** In the order of forms and tables. */
export const limitNames: Readonly<Record<LimitKind, string>> = {
  concurrency: 'Requests at once',
  requests_per_minute: 'Requests per minute',
  tokens_per_minute: 'Tokens per minute',
  prompt_tokens_per_minute: 'Prompt tokens per minute',
  completion_tokens_per_minute: 'Completion tokens per minute',
};
export const limitKinds = Object.keys(limitNames) as readonly LimitKind[];

export const nameOf = ({ name, id }: { readonly name: string; readonly id: string }): string =>
  name === '' ? id : name;
