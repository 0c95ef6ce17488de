/** Requests that run now, and those that ended last, in the admin API. */
import Type, { type Static } from 'typebox';
import { listFields, Nullable, Titled } from '../shapes.ts';

const counted = (description: string) => Type.Integer({ minimum: 0, description });
const at = (description: string) => Nullable(Type.Number({ minimum: 0, description }));

export const Timeline = Titled('RequestTimeline', {
  received: Type.Literal(0, {
    description: 'Its head was here: 0, the start of the other times, in milliseconds',
  }),
  parsed: at('The last byte of its body was here; null: it has none, or not yet'),
  admitted: at('It got its slot, after any queue'),
  engine_called: at('The first call was sent to a replica; null of an engine inside the gateway'),
  engine_answered: at('The first byte of the response of a replica was here, of the call that counts'),
  first_byte: at('The head of the response was written to the client; null where no model was called'),
  first_token: at('The first token was here'),
  billed: at('Its usage event was written'),
  last_byte: at('The operating system had the last byte of the response, or the connection ended'),
});
export type Timeline = Static<typeof Timeline>;

const request = {
  id: Type.String({ description: '`x-request-id` of its response' }),
  object: Type.Literal('request', { description: '`request`' }),
  process: Type.Integer({ description: 'Process id of the gateway' }),
  method: Type.String({ description: 'Of HTTP' }),
  route: Nullable(Type.String({ description: 'Below `/v1`; null where no route was found' })),
  model: Nullable(Type.String({ description: 'Id of the model that was asked for; null until it is known' })),
  subscription: Nullable(Type.String({ description: 'Id; null until it is known, and on public routes' })),
  key: Nullable(Type.String({ description: 'Id; null until it is known, and on public routes' })),
  replica: Nullable(Type.String({ description: 'Alias of the replica that was called last' })),
  attempts: counted('Calls that were sent to engines, retries included; 0 of an engine inside the gateway'),
  continuations: counted('Times that its stream broke off and another replica went on with it'),
  queue_ms: counted('Milliseconds in queues'),
  first_token_ms: at('Milliseconds from its start to its first token; null: there is none'),
  prompt_tokens: counted('Tokens of the prompt; estimated until the engine has counted'),
  completion_tokens: counted('Tokens of the response so far; estimated until the engine has counted'),
  timeline: Timeline,
};

export const RequestState = Type.Enum(['receiving', 'queued', 'running', 'streaming'], {
  description:
    '`receiving`: its body arrives; `queued`: it waits for a slot; `running`: nothing is sent yet; `streaming`',
});

export const AdminRequestShape = Titled('AdminRequest', {
  ...request,
  state: RequestState,
  engine: Nullable(Type.String({ description: 'Engine of its model' })),
  age_ms: counted('Milliseconds since it came'),
  slow_reader: Type.Boolean({
    description: 'Its client reads too slowly: backpressure is on, and the engine is not read',
  }),
  unread_bytes: counted('Bytes of the response that wait in the gateway for the client'),
});
export type AdminRequestShape = Static<typeof AdminRequestShape>;
export const AdminRequestList = Titled('AdminRequestList', listFields(AdminRequestShape));
export type AdminRequestList = Static<typeof AdminRequestList>;

const Limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Entries of a page' }),
);

export const RequestsQuery = Type.Object({
  limit: Limit,
  model: Type.Optional(Type.String({ description: 'Only those of this model, by id' })),
  subscription: Type.Optional(Type.String({ description: 'Only those of this subscription, by id' })),
  key: Type.Optional(Type.String({ description: 'Only those of this key, by id' })),
  state: Type.Optional(RequestState),
});

export const CancelledRequest = Titled('CancelledRequest', {
  id: Type.String({ description: 'Of the request' }),
  object: Type.Literal('request', { description: '`request`' }),
  cancelled: Type.Literal(true, { description: 'It ends now' }),
});

export const LogEntry = Titled('LogEntry', {
  ...request,
  object: Type.Literal('request.ended', { description: '`request.ended`' }),
  time: Type.Integer({ description: 'Unix milliseconds of its end' }),
  status: Type.Integer({ description: '0: the client left before there was one' }),
  cut: Nullable(Type.String({ description: 'Why the response was not sent to its end; null: it was' })),
  total_ms: counted('Milliseconds from its start to its end'),
  cost: Nullable(Type.String({ description: 'Dollars, an exact decimal; null: nothing was billed with it' })),
});
export type LogEntry = Static<typeof LogEntry>;

export const LogList = Titled('LogList', {
  object: Type.Literal('list', { description: '`list`' }),
  data: Type.Array(LogEntry, { description: 'The oldest first' }),
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

export const RequestCounts = Type.Object(
  {
    receiving: counted('Whose body arrives or is read'),
    queued: counted('That wait for a slot of their model'),
    running: counted('Of which nothing is sent yet'),
    streaming: counted('Whose response is being sent'),
  },
  { description: 'Requests that run now, by state' },
);
