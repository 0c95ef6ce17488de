/** Query and response of `GET /usage`. */
import Type, { type Static } from 'typebox';
import { Count, CountOf, Nullable, Titled } from './shapes.ts';

export const UsageQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      description:
        'First moment: a date, a time with its zone, or Unix seconds; the start of this month by default',
    }),
  ),
  to: Type.Optional(
    Type.String({ description: 'First moment after the period; the end of today by default' }),
  ),
  group_by: Type.Optional(
    Type.String({
      description:
        '`day`, `model`, `key` and `route`, with commas between, or `request` for single requests; `day` by default',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Rows of a page' }),
  ),
  after: Type.Optional(Type.String({ description: 'Cursor out of `links.next`' })),
});

/** Billed quantities. Money is a decimal as text, so that nothing is lost on the way. */
const billed = {
  prompt_tokens: CountOf('Tokens read'),
  completion_tokens: CountOf('Tokens generated'),
  cached_tokens: CountOf('Of the tokens read: from a cache of the engine'),
  reasoning_tokens: CountOf('Of the tokens generated: spent on thinking'),
  inputs: CountOf('Texts embedded, questions decided, images made'),
  megapixels: Type.Number({ description: 'Of images' }),
  seconds: Type.Number({ description: 'Of video, music, speech and transcribed audio' }),
  cost: Type.String({ description: 'US dollars, an exact decimal' }),
};
export const billedColumns: readonly string[] = Object.keys(billed);

export const UsageTotalRow = Type.Object({
  object: Type.Literal('usage.total'),
  day: Type.Optional(Type.String({ description: 'Such as 2026-11-16, in UTC; with `group_by=day`' })),
  model: Type.Optional(Type.String({ description: 'With `group_by=model`' })),
  key: Type.Optional(Type.String({ description: 'Id of the key, with `group_by=key`' })),
  route: Type.Optional(Type.String({ description: 'Path below `/v1`, with `group_by=route`' })),
  requests: CountOf('Requests that left a usage event'),
  failed: Type.Integer({ minimum: 0, description: 'Of the requests; they are not billed' }),
  ...billed,
});
export type UsageTotalRow = Static<typeof UsageTotalRow>;

export const UsageRequestRow = Type.Object({
  object: Type.Literal('usage.request'),
  id: Type.String({ description: 'Id of the usage event' }),
  request_id: Type.String({ description: 'The `x-request-id` of the response' }),
  created: Type.Integer({ description: 'Unix seconds when it ended' }),
  key: Type.String({ description: 'Id of the key' }),
  route: Type.String({ description: 'Path below `/v1`' }),
  model: Type.String({ description: 'The model that answered' }),
  requested_model: Type.Optional(
    Type.String({ description: 'The model that was asked for, where a fallback of it answered' }),
  ),
  outcome: Type.Enum(['completed', 'failed', 'cancelled'], {
    description: 'failed is not billed; cancelled: the client left, and pays for what it was sent',
  }),
  status: Type.Integer({ description: 'HTTP status' }),
  ...billed,
});
export type UsageRequestRow = Static<typeof UsageRequestRow>;

const Stored = { bytes: CountOf('Of vectors'), files: Count, items: Count };

export const UsageList = Titled('UsageList', {
  object: Type.Literal('list'),
  from: Type.Integer({ description: 'Unix seconds: the first moment of the period' }),
  to: Type.Integer({ description: 'Unix seconds: the first moment after it' }),
  group_by: Type.Array(Type.String(), { description: 'As requested' }),
  data: Type.Array(Type.Union([UsageTotalRow, UsageRequestRow]), {
    description: 'Totals, or single requests with `group_by=request`',
  }),
  has_more: Type.Boolean({ description: 'Whether rows follow this page' }),
  links: Type.Object({ next: Nullable(Type.String(), 'Address of the next page; null after the last') }),
  storage: Type.Object(
    { ...Stored, limits: Type.Object(Stored) },
    { description: 'What the vector stores of the subscription hold now, and may hold' },
  ),
});
export type UsageList = Static<typeof UsageList>;
