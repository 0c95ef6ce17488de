/** The usage event: one billable operation, however it ended, counted once per id. */
import Type, { type Static } from 'typebox';
import { Decimal } from './catalog.ts';

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Name = Type.String({ minLength: 1, maxLength: 512 });

/** Dollars, exact to eighteen digits after the point. */
const Amount = Type.String({ pattern: '^(0|[1-9][0-9]{0,17})(\\.[0-9]{1,18})?$' });
/** A quantity that need not be whole. */
const Measure = Type.String({ pattern: '^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,9})?$' });

/**
 * Version 1. New optional fields may join it, and readers pass over those they do not know; a field that changes its
 * meaning or must be there makes a new version.
 */
export const UsageEvent = Type.Object({
  schema: Type.Literal(1),
  id: Name,
  /** Unix milliseconds when the request ended; before the year 2100. */
  time: Type.Integer({ minimum: 0, exclusiveMaximum: 4_102_444_800_000 }),
  request_id: Type.String(),
  subscription: Name,
  key: Name,
  route: Name,
  /** The one that answered. */
  model: Name,
  /** The one that was asked for, where a fallback of it answered. */
  requested_model: Type.Optional(Name),
  engine: Type.String(),
  outcome: Type.Enum(['completed', 'failed', 'cancelled']),
  status: Type.Integer(),
  /** What was used. It is billed unless the outcome is `failed`. */
  quantities: Type.Object({
    prompt_tokens: Count,
    completion_tokens: Count,
    cached_tokens: Count,
    reasoning_tokens: Count,
    /** Of images: width × height / 1,000,000 each, times the step scaling. */
    megapixels: Type.Optional(Measure),
    /** Of video, music, speech and audio read; rounded up as the contract says. */
    seconds: Type.Optional(Measure),
    /** Texts embedded, questions decided, images made. */
    inputs: Type.Optional(Count),
  }),
  /** Completion tokens made by the engine and written to the client; they differ when a client leaves. */
  generated_tokens: Count,
  delivered_tokens: Count,
  price: Type.Record(Type.String(), Decimal),
  cost: Amount,
  /** Milliseconds: waiting for a slot, until the first token, in all. */
  queued_ms: Count,
  first_token_ms: Type.Union([Count, Type.Null()]),
  total_ms: Count,
});
export type UsageEvent = Static<typeof UsageEvent>;
