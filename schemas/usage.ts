/** Query and response of `GET /usage`. */
import Type, { type Static } from 'typebox';
import { Count, Nullable, Titled } from './shapes.ts';

export const UsageQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      description: 'First moment: a date, a time with its zone, or Unix seconds; start of this month',
    }),
  ),
  to: Type.Optional(Type.String({ description: 'First moment after the period; end of today' })),
  group_by: Type.Optional(
    Type.String({
      description:
        '`day`, `model`, `key` and `route`, with commas between, or `request` for single requests; `day`',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  after: Type.Optional(Type.String({ description: 'Cursor out of `links.next`' })),
});

/** Billed quantities. Money is a decimal as text, so that nothing is lost on the way. */
const billed = {
  prompt_tokens: Count,
  completion_tokens: Count,
  cached_tokens: Count,
  reasoning_tokens: Count,
  inputs: Count,
  megapixels: Type.Number(),
  seconds: Type.Number(),
  cost: Type.String({ description: 'Dollars, an exact decimal' }),
};
export const billedColumns: readonly string[] = Object.keys(billed);

export const UsageTotalRow = Type.Object({
  object: Type.Literal('usage.total'),
  day: Type.Optional(Type.String({ description: 'Universal time' })),
  model: Type.Optional(Type.String()),
  key: Type.Optional(Type.String()),
  route: Type.Optional(Type.String()),
  requests: Count,
  failed: Type.Integer({ minimum: 0, description: 'Of the requests; they are not billed' }),
  ...billed,
});
export type UsageTotalRow = Static<typeof UsageTotalRow>;

export const UsageRequestRow = Type.Object({
  object: Type.Literal('usage.request'),
  id: Type.String(),
  request_id: Type.String(),
  created: Type.Integer({ description: 'Unix seconds when it ended' }),
  key: Type.String(),
  route: Type.String(),
  model: Type.String({ description: 'The model that answered' }),
  requested_model: Type.Optional(
    Type.String({ description: 'The model that was asked for, where a fallback of it answered' }),
  ),
  outcome: Type.Enum(['completed', 'failed', 'cancelled']),
  status: Type.Integer(),
  ...billed,
});
export type UsageRequestRow = Static<typeof UsageRequestRow>;

const Stored = { bytes: Count, files: Count, items: Count };

export const UsageList = Titled('UsageList', {
  object: Type.Literal('list'),
  from: Type.Integer({ description: 'Unix seconds' }),
  to: Type.Integer(),
  group_by: Type.Array(Type.String()),
  data: Type.Array(Type.Union([UsageTotalRow, UsageRequestRow])),
  has_more: Type.Boolean(),
  links: Type.Object({ next: Nullable(Type.String()) }),
  storage: Type.Object(
    { ...Stored, limits: Type.Object(Stored) },
    { description: 'What the vector stores of the subscription hold now, and may hold' },
  ),
});
export type UsageList = Static<typeof UsageList>;
