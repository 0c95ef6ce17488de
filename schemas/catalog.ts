/** A model as a row of `sluice.yaml`. */
import Type, { type Static } from 'typebox';
import { Capabilities } from './capabilities.ts';
import { Forward, SessionSource } from './engines.ts';
import { RateLimits } from './limits.ts';
import { Closed, Described } from './shapes.ts';

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
  expected: "a decimal number in quotes, such as '0.0000005'",
});

export const Effort = Type.Enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra']);

/** How a model reasons, and how its engine is configured to. */
export const Reasoning = Closed({
  mandatory: Type.Boolean({ description: 'Whether it always thinks' }),
  supports_max_tokens: Type.Optional(Type.Boolean({ description: 'Whether thinking budgets are enforced' })),
  supported_efforts: Type.Optional(Type.Array(Effort, { description: 'Levels it has' })),
  default_effort: Type.Optional(Described(Effort, 'The level where a request has none')),
  default_enabled: Type.Optional(
    Type.Boolean({ description: 'Whether it thinks unless a request says otherwise' }),
  ),
  wire: Described(
    Type.Optional(
      Closed({
        effort_field: Described(
          Type.Optional(Type.String()),
          'Field for the effort (`reasoning_effort`), or a chat template switch (`chat_template_kwargs.enable_thinking`)',
        ),
        enabled_field: Described(Type.Optional(Type.String()), 'Field that switches thinking on and off'),
        off_field: Described(
          Type.Optional(Type.String()),
          'Field that is `none` when thinking is off and absent when it is on: for servers that reject any level',
        ),
        budget_field: Described(Type.Optional(Type.String()), 'Field for the thinking budget in tokens'),
      }),
    ),
    "What the engine's request carries; which one depends on the server and the model's chat template",
  ),
});

/** USD per token; per megapixel, second of video, speech or music in `completion`; per second of audio read in `prompt`. */
export const Pricing = Closed({
  prompt: Described(Decimal, 'What is read'),
  completion: Described(Decimal, 'What is generated'),
  internal_reasoning: Type.Optional(Described(Decimal, 'A token of thinking')),
  input_cache_read: Type.Optional(Described(Decimal, 'A token of the prompt that came from a cache')),
});

/** Sampling that engines are sent where a request has none. */
export const DefaultParameters = Closed({
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, description: 'Randomness' })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Nucleus sampling' })),
  top_k: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Most likely tokens that are considered; 0: all' }),
  ),
  frequency_penalty: Type.Optional(
    Type.Number({ minimum: -2, maximum: 2, description: 'Penalty by how often a token has occurred' }),
  ),
  presence_penalty: Type.Optional(
    Type.Number({ minimum: -2, maximum: 2, description: 'Penalty of tokens that have occurred' }),
  ),
  repetition_penalty: Type.Optional(
    Type.Number({ minimum: 0, maximum: 2, description: 'Factor for tokens that have occurred' }),
  ),
});

/** Models that may be tried for one request after the one it names. */
export const mostFallbacks = 8;

const modelFields = {
  kind: Described(ModelKind, 'What the model does; `chat` unless given'),
  name: Described(Type.String({ minLength: 1 }), 'Name for people; its id unless given'),
  description: Described(Type.String(), 'Text for the lists of models'),
  created: Described(
    Type.Integer({ minimum: 0 }),
    'When it was released, in Unix seconds; shown in its entry',
  ),
  engine: Described(Type.String({ minLength: 1 }), 'Name of a row under `engines`'),
  served_as: Described(Type.String({ minLength: 1 }), 'The id the engine knows it by'),
  served: Described(Type.Boolean(), 'False: listed nowhere, and 404 as if it did not exist'),
  private: Described(Type.Boolean(), 'True: usable by id, shown in no list and by no public route'),
  legacy_ids: Described(Type.Array(Type.String({ minLength: 1 })), 'Former ids that lead here'),
  fallbacks: Described(
    Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: mostFallbacks, uniqueItems: true }),
    ),
    'Models that answer instead while its engine cannot, in this order; their own fallbacks follow them',
  ),
  hugging_face_id: Described(Type.Optional(Type.String()), 'Id of its weights, shown in its entry'),
  context_length: Described(
    Type.Optional(Type.Integer({ minimum: 1 })),
    'Tokens of prompt and completion together',
  ),
  max_completion_tokens: Described(
    Type.Optional(Type.Integer({ minimum: 1 })),
    'Most tokens of one completion',
  ),
  tokenizer: Described(Type.String(), 'Tokenizer by which the gateway counts'),
  instruct_type: Described(Type.Optional(Type.String()), 'Chat template, shown in its entry'),
  input_modalities: Described(
    Type.Array(Type.String()),
    'What it reads: `text`, `image`, `audio`, `video`, `file`',
  ),
  output_modalities: Described(Type.Array(Type.String()), 'What it writes'),
  pricing: Described(Pricing, 'US dollars per unit; free unless given'),
  is_moderated: Described(Type.Boolean(), 'Shown in its entry'),
  supported_parameters: Described(
    Type.Array(Type.String()),
    'Request fields that it supports, shown in its entry',
  ),
  default_parameters: Described(
    Type.Optional(DefaultParameters),
    'Sampling that the engine is sent where a request has none',
  ),
  forward: Described(
    Type.Optional(Forward),
    "Request fields that only the engine knows and is sent; those of the engine's row unless given",
  ),
  per_request_limits: Described(
    Type.Optional(Type.Record(Type.String(), Type.Number())),
    'Maxima of one request, shown in the entry, such as `max_prompt_length` in characters',
  ),
  voices: Described(
    Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
    'Voice ids of a speech model, its default speaker first',
  ),
  reasoning: Described(
    Type.Optional(Reasoning),
    'How it reasons, and which parameter of its engine controls that',
  ),
  capabilities: Described(Type.Optional(Capabilities), 'What a model of its kind can do'),
  render_slots: Described(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    'Of a video or music model: renders at once, over all workers; 2 by default',
  ),
  limits: Described(RateLimits, 'Limits of each subscription on this model'),
};

/** A resolved row: every default filled in. */
export const Model = Type.Object({
  id: Type.String({ minLength: 1 }),
  ...modelFields,
  session: Described(
    Type.Optional(SessionSource),
    "Where requests name their session, if the model's engine balances by it",
  ),
});
export type Model = Static<typeof Model>;

/** A row as it is written: all but a few fields have defaults. */
export const ModelRow = Closed({
  ...Type.Partial(Type.Object(modelFields)).properties,
  engine: modelFields.engine,
  pricing: Type.Optional(
    Type.Partial(Pricing, {
      additionalProperties: false,
      description:
        'US dollars: per token; per megapixel or second of video, speech and music in `completion`; per second of audio that is read in `prompt`',
    }),
  ),
  limits: Type.Optional(
    Type.Partial(RateLimits, {
      additionalProperties: false,
      description: 'Limits of each subscription on this model',
    }),
  ),
});
export type ModelRow = Static<typeof ModelRow>;
