/** One billable operation, however it ended: what the journal keeps and billing counts, once per id. */
import Type, { type Static } from 'typebox';
import { Decimal } from './catalog.ts';

const Count = Type.Integer({ minimum: 0 });

export const UsageEvent = Type.Object({
  schema: Type.Literal(1),
  id: Type.String(),
  /** Unix milliseconds when the request ended. */
  time: Type.Integer(),
  request_id: Type.String(),
  subscription: Type.String(),
  key: Type.String(),
  route: Type.String(),
  model: Type.String(),
  engine: Type.String(),
  outcome: Type.Enum(['completed', 'failed', 'cancelled']),
  status: Type.Integer(),
  quantities: Type.Object({
    prompt_tokens: Count,
    completion_tokens: Count,
    cached_tokens: Count,
    reasoning_tokens: Count,
  }),
  /** Completion tokens made by the engine and written to the client; they differ when a client leaves. */
  generated_tokens: Count,
  delivered_tokens: Count,
  price: Type.Record(Type.String(), Decimal),
  cost: Decimal,
  /** Milliseconds: waiting for a slot, until the first token, in all. */
  queued_ms: Count,
  first_token_ms: Type.Union([Count, Type.Null()]),
  total_ms: Count,
});
export type UsageEvent = Static<typeof UsageEvent>;
