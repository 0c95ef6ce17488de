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
export const Decimal = Type.String({
  pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$',
  description: "a decimal number in quotes, such as '0.0000005'",
});

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

/** USD per token; per megapixel, second of video, speech or music in `completion`; per second of audio read in `prompt`. */
export const Pricing = Type.Object(
  {
    prompt: Decimal,
    completion: Decimal,
    internal_reasoning: Type.Optional(Decimal),
    input_cache_read: Type.Optional(Decimal),
  },
  { additionalProperties: false },
);

/** What the engine samples with when a request does not say. */
export const DefaultParameters = Type.Object(
  {
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: Type.Optional(Type.Integer({ minimum: 0 })),
    frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
    presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
    repetition_penalty: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  },
  { additionalProperties: false },
);

/** How an embedding model is to be asked. */
export const EmbeddingCapabilities = Type.Object(
  {
    /** Length of the vectors it gives. */
    dimensions: Type.Integer({ minimum: 1 }),
    /** Trained so that the first numbers of a vector stand alone: `dimensions` may ask for fewer. */
    truncatable: Type.Optional(Type.Boolean()),
    /** Put before a search query; absent on models that know no instructions. */
    query_instruction: Type.Optional(Type.String({ minLength: 1 })),
    /** A text that starts with this carries its own instruction and is sent as it is. */
    instruction_marker: Type.Optional(Type.String({ minLength: 1 })),
    /** Inputs the engine takes in one call; larger batches are split. */
    batch: Type.Optional(Type.Integer({ minimum: 1 })),
    /** False: the engine takes texts only, no token ids. */
    token_ids: Type.Optional(Type.Boolean()),
    /** Field by which the engine is told to cut inputs at the context length itself: `truncate_prompt_tokens` of vLLM. */
    truncate_field: Type.Optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' })),
  },
  { additionalProperties: false },
);

/** How a decision model is asked. */
export const DecisionCapabilities = Type.Object(
  {
    /** `completions` scores each answer as the continuation of a prompt; `systemone` hands the questions on to another Sluice. */
    asked_by: Type.Enum(['completions', 'systemone']),
  },
  { additionalProperties: false },
);

/** What a model of a kind can do beyond its common fields; only the member of the model's own kind may be there. */
export const Capabilities = Type.Object(
  {
    embedding: Type.Optional(EmbeddingCapabilities),
    decision: Type.Optional(DecisionCapabilities),
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
  pricing: Pricing,
  is_moderated: Type.Boolean(),
  supported_parameters: Type.Array(Type.String()),
  default_parameters: Type.Optional(DefaultParameters),
  /** Maxima of one request, shown in the entry: `max_prompt_length` in characters, say. */
  per_request_limits: Type.Optional(Type.Record(Type.String(), Type.Number())),
  /** Voice ids of a speech model, its default speaker first. */
  voices: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
  reasoning: Type.Optional(Reasoning),
  capabilities: Type.Optional(Capabilities),
  limits: RateLimits,
};

/** A resolved row: every default filled in. */
export const Model = Type.Object({ id: Type.String({ minLength: 1 }), ...modelFields });
export type Model = Static<typeof Model>;

/** A row as it is written: all but a few fields have defaults. */
export const ModelRow = Type.Object(
  {
    ...Type.Partial(Type.Object(modelFields)).properties,
    engine: modelFields.engine,
    pricing: Type.Optional(Type.Partial(Pricing, { additionalProperties: false })),
    limits: Type.Optional(Type.Partial(RateLimits, { additionalProperties: false })),
  },
  { additionalProperties: false },
);
export type ModelRow = Static<typeof ModelRow>;
