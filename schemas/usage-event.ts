/** The usage event: one billable operation, however it ended, counted once per id. */
import Type, { type Static } from 'typebox';
import { Decimal } from './catalog.ts';

const Count = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
const Name = (description: string) => Type.String({ minLength: 1, maxLength: 512, description });

/** Dollars, exact to eighteen digits after the point. */
const Amount = Type.String({
  pattern: '^(0|[1-9][0-9]{0,17})(\\.[0-9]{1,18})?$',
  description: 'Dollars, an exact decimal',
});
/** A quantity that need not be whole. */
const Measure = (description: string) =>
  Type.String({ pattern: '^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,9})?$', description });

/**
 * Version 1. New optional fields may join it, and readers pass over those they do not know; a field that changes its
 * meaning or must be there makes a new version.
 */
export const UsageEvent = Type.Object({
  schema: Type.Literal(1, { description: 'Version of this shape' }),
  id: Name('An event counts once per id'),
  /** Before the year 2100. */
  time: Type.Integer({
    minimum: 0,
    exclusiveMaximum: 4_102_444_800_000,
    description: 'Unix milliseconds when the request ended',
  }),
  request_id: Type.String({ description: '`x-request-id` of the response' }),
  subscription: Name('Id'),
  key: Name('Id'),
  route: Name('Below `/v1`'),
  model: Name('The one that answered'),
  requested_model: Type.Optional(Name('The one that was asked for, where a fallback of it answered')),
  engine: Type.String({ description: 'That served the model' }),
  outcome: Type.Enum(['completed', 'failed', 'cancelled'], {
    description: '`failed` costs nothing; `cancelled`: the client left',
  }),
  status: Type.Integer({ description: 'Of the response' }),
  quantities: Type.Object(
    {
      prompt_tokens: Count('Tokens of the prompt'),
      completion_tokens: Count('Tokens of the response, those of reasoning too'),
      cached_tokens: Count('Tokens of the prompt that the engine had cached'),
      reasoning_tokens: Count('Tokens of reasoning'),
      megapixels: Type.Optional(
        Measure('Of images: width × height / 1,000,000 each, times the step scaling'),
      ),
      /** Rounded up as the contract says. */
      seconds: Type.Optional(Measure('Of video, music, speech and audio read')),
      inputs: Type.Optional(Count('Texts embedded, questions decided, images made')),
    },
    { description: 'What was used. It is billed unless the outcome is `failed`' },
  ),
  generated_tokens: Count('Completion tokens made by the engine'),
  delivered_tokens: Count('Completion tokens written to the client; fewer when it left'),
  price: Type.Record(Type.String(), Decimal, { description: 'Dollars per unit, as they were' }),
  cost: Amount,
  queued_ms: Count('Milliseconds waiting for a slot'),
  first_token_ms: Type.Union([
    Count('Milliseconds until the first token; null: there was none'),
    Type.Null(),
  ]),
  total_ms: Count('Milliseconds in all'),
});
export type UsageEvent = Static<typeof UsageEvent>;
