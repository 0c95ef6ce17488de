/** Requests that run now, and those that ended last, in the admin API. */
import Type, { type Static } from 'typebox';
import { Count, listFields, Nullable, Titled } from '../shapes.ts';

const request = {
  id: Type.String({ description: '`x-request-id` of its response' }),
  object: Type.Literal('request'),
  process: Type.Integer({ description: 'Process id of the gateway' }),
  method: Type.String(),
  route: Nullable(Type.String()),
  model: Nullable(Type.String()),
  subscription: Nullable(Type.String()),
  key: Nullable(Type.String()),
  queue_ms: Count,
  prompt_tokens: Count,
  completion_tokens: Count,
};

export const AdminRequestShape = Titled('AdminRequest', {
  ...request,
  state: Type.Enum(['receiving', 'queued', 'running', 'streaming']),
  replica: Nullable(Type.String()),
  age_ms: Count,
});
export type AdminRequestShape = Static<typeof AdminRequestShape>;
export const AdminRequestList = Titled('AdminRequestList', listFields(AdminRequestShape));
export type AdminRequestList = Static<typeof AdminRequestList>;

const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 }));

export const RequestsQuery = Type.Object({
  limit: Limit,
  model: Type.Optional(Type.String()),
  subscription: Type.Optional(Type.String()),
  key: Type.Optional(Type.String()),
  state: Type.Optional(AdminRequestShape.properties.state),
});

export const CancelledRequest = Titled('CancelledRequest', {
  id: Type.String(),
  object: Type.Literal('request'),
  cancelled: Type.Literal(true),
});

export const LogEntry = Titled('LogEntry', {
  ...request,
  object: Type.Literal('request.ended'),
  time: Type.Integer({ description: 'Unix milliseconds' }),
  status: Type.Integer({ description: '0: the client left before there was one' }),
  cut: Nullable(Type.String({ description: 'Why the response was not sent to its end' })),
  total_ms: Count,
  cost: Nullable(Type.String({ description: 'Dollars, an exact decimal' })),
});
export type LogEntry = Static<typeof LogEntry>;

export const LogList = Titled('LogList', {
  object: Type.Literal('list'),
  data: Type.Array(LogEntry),
  cursor: Type.String({ description: 'For `after`: those that end from now on' }),
});
export type LogList = Static<typeof LogList>;

export const LogQuery = Type.Object({
  after: Type.Optional(Type.String({ description: '`cursor` of the list before' })),
  limit: Limit,
  follow: Type.Optional(
    Type.Boolean({ description: 'One entry per line (`application/x-ndjson`), and so on as they end' }),
  ),
});
