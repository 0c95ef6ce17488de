/** A model as a row of `sluice.yaml`. */
import Type, { type Static } from 'typebox';
import { Capabilities } from './capabilities.ts';
import { Forward, SessionSource } from './engines.ts';
import { RateLimits } from './limits.ts';
import { Closed } from './shapes.ts';

export const ModelKind = Type.Enum([
  'chat',
  'embedding',
  'decision',
  'rerank',
  'image',
  'video',
  'music',
  'speech',
  'transcription',
]);
export type ModelKind = Static<typeof ModelKind>;

/** A decimal number as text: money is never a float. */
export const Decimal = Type.String({
  pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$',
  description: "a decimal number in quotes, such as '0.0000005'",
});

export const Effort = Type.Enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra']);

/** How a model reasons, and how its engine is configured to. */
export const Reasoning = Closed({
  mandatory: Type.Boolean(),
  supports_max_tokens: Type.Optional(Type.Boolean()),
  supported_efforts: Type.Optional(Type.Array(Effort)),
  default_effort: Type.Optional(Effort),
  default_enabled: Type.Optional(Type.Boolean()),
  /** What the engine's request carries; which one depends on the server and the model's chat template. */
  wire: Type.Optional(
    Closed({
      /** Field for the effort (`reasoning_effort`), or a chat template switch (`chat_template_kwargs.enable_thinking`). */
      effort_field: Type.Optional(Type.String()),
      /** Field that switches thinking on and off. */
      enabled_field: Type.Optional(Type.String()),
      /** Field that is `none` when thinking is off and absent when it is on: for servers that reject any level. */
      off_field: Type.Optional(Type.String()),
      /** Field for the thinking budget in tokens. */
      budget_field: Type.Optional(Type.String()),
    }),
  ),
});

/** USD per token; per megapixel, second of video, speech or music in `completion`; per second of audio read in `prompt`. */
export const Pricing = Closed({
  prompt: Decimal,
  completion: Decimal,
  internal_reasoning: Type.Optional(Decimal),
  input_cache_read: Type.Optional(Decimal),
});

/** Sampling that engines are sent where a request has none. */
export const DefaultParameters = Closed({
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Type.Optional(Type.Integer({ minimum: 0 })),
  frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  repetition_penalty: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
});

/** Models that may be tried for one request after the one it names. */
export const mostFallbacks = 8;

const modelFields = {
  kind: ModelKind,
  name: Type.String({ minLength: 1 }),
  description: Type.String(),
  /** Unix seconds. */
  created: Type.Integer({ minimum: 0 }),
  /** Name of a row under `engines`. */
  engine: Type.String({ minLength: 1 }),
  /** The id the engine knows it by. */
  served_as: Type.String({ minLength: 1 }),
  /** False: listed nowhere, and 404 as if it did not exist. */
  served: Type.Boolean(),
  /** True: usable by id, shown in no list and by no public route. */
  private: Type.Boolean(),
  /** Former ids that lead here. */
  legacy_ids: Type.Array(Type.String({ minLength: 1 })),
  /** Models that answer instead while its engine cannot, in this order; their own fallbacks follow them. */
  fallbacks: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: mostFallbacks, uniqueItems: true }),
  ),
  hugging_face_id: Type.Optional(Type.String()),
  context_length: Type.Optional(Type.Integer({ minimum: 1 })),
  max_completion_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  tokenizer: Type.String(),
  instruct_type: Type.Optional(Type.String()),
  input_modalities: Type.Array(Type.String()),
  output_modalities: Type.Array(Type.String()),
  pricing: Pricing,
  is_moderated: Type.Boolean(),
  supported_parameters: Type.Array(Type.String()),
  default_parameters: Type.Optional(DefaultParameters),
  /** Of a chat model; its engine's unless given. */
  forward: Type.Optional(Forward),
  /** Maxima of one request, shown in the entry, such as `max_prompt_length` in characters. */
  per_request_limits: Type.Optional(Type.Record(Type.String(), Type.Number())),
  /** Voice ids of a speech model, its default speaker first. */
  voices: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
  reasoning: Type.Optional(Reasoning),
  capabilities: Type.Optional(Capabilities),
  /** Of a video or music model: renders at once, over all workers; 2 by default. */
  render_slots: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  limits: RateLimits,
};

/** A resolved row: every default filled in. */
export const Model = Type.Object({
  id: Type.String({ minLength: 1 }),
  ...modelFields,
  /** Where requests name their session, if the model's engine balances by it. */
  session: Type.Optional(SessionSource),
});
export type Model = Static<typeof Model>;

/** A row as it is written: all but a few fields have defaults. */
export const ModelRow = Closed({
  ...Type.Partial(Type.Object(modelFields)).properties,
  engine: modelFields.engine,
  pricing: Type.Optional(Type.Partial(Pricing, { additionalProperties: false })),
  limits: Type.Optional(Type.Partial(RateLimits, { additionalProperties: false })),
});
export type ModelRow = Static<typeof ModelRow>;
