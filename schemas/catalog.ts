/** A model as `sluice.yaml` describes it and the house knows it: one row of the catalog. */
import Type, { type Static } from 'typebox';

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
export const Decimal = Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$' });

export const Effort = Type.Enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra']);

/** How a model thinks, and how its engine is told. */
export const Reasoning = Type.Object(
  {
    mandatory: Type.Boolean(),
    supports_max_tokens: Type.Optional(Type.Boolean()),
    supported_efforts: Type.Optional(Type.Array(Effort)),
    default_effort: Type.Optional(Effort),
    default_enabled: Type.Optional(Type.Boolean()),
    /** What the engine's request carries; which one depends on the server and the model's chat template. */
    wire: Type.Optional(
      Type.Object(
        {
          /** Field for the effort (`reasoning_effort`), or a chat template switch (`chat_template_kwargs.enable_thinking`). */
          effort_field: Type.Optional(Type.String()),
          /** Field that switches thinking on and off. */
          enabled_field: Type.Optional(Type.String()),
          /** Field for the thinking budget in tokens. */
          budget_field: Type.Optional(Type.String()),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

export const RateLimits = Type.Object(
  {
    concurrency: Type.Integer({ minimum: 1 }),
    requests_per_minute: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
);

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
  /** False: listed nowhere and answered 404, as if it were not there. */
  served: Type.Boolean(),
  /** True: usable by id, shown in no list and by no public route. */
  private: Type.Boolean(),
  /** Former ids that lead here. */
  legacy_ids: Type.Array(Type.String({ minLength: 1 })),
  hugging_face_id: Type.Optional(Type.String()),
  context_length: Type.Optional(Type.Integer({ minimum: 1 })),
  max_completion_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  tokenizer: Type.String(),
  instruct_type: Type.Optional(Type.String()),
  input_modalities: Type.Array(Type.String()),
  output_modalities: Type.Array(Type.String()),
  pricing: Type.Object(
    {
      prompt: Decimal,
      completion: Decimal,
      internal_reasoning: Type.Optional(Decimal),
      input_cache_read: Type.Optional(Decimal),
    },
    { additionalProperties: false },
  ),
  is_moderated: Type.Boolean(),
  supported_parameters: Type.Array(Type.String()),
  default_parameters: Type.Optional(Type.Record(Type.String(), Type.Number())),
  per_request_limits: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  voices: Type.Optional(Type.Array(Type.String())),
  reasoning: Type.Optional(Reasoning),
  limits: RateLimits,
};

/** A resolved row: every default filled in. */
export const Model = Type.Object({ id: Type.String({ minLength: 1 }), ...modelFields });
export type Model = Static<typeof Model>;

/** A row as it is written: all but a few fields have defaults. */
export const ModelRow = Type.Object(
  { ...Type.Partial(Type.Object(modelFields)).properties, engine: modelFields.engine },
  { additionalProperties: false },
);
export type ModelRow = Static<typeof ModelRow>;
