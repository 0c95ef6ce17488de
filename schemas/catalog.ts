/** A model as a row of `sluice.yaml`. */
import Type, { type Static } from 'typebox';
import { Forward, SessionSource } from './engines.ts';
import { ImageCapabilities } from './image-capabilities.ts';
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

/** How an embedding model is called. */
const EmbeddingCapabilities = Closed({
  /** Length of its vectors. */
  dimensions: Type.Integer({ minimum: 1 }),
  /** Trained so that a vector can be truncated: `dimensions` may request fewer numbers. */
  truncatable: Type.Optional(Type.Boolean()),
  /** Put before a search query; absent on models that know no instructions. */
  query_instruction: Type.Optional(Type.String({ minLength: 1 })),
  /** A text that starts with this carries its own instruction and is sent as it is. */
  instruction_marker: Type.Optional(Type.String({ minLength: 1 })),
  /** Inputs the engine takes in one call; larger batches are split. */
  batch: Type.Optional(Type.Integer({ minimum: 1 })),
  /** False: the engine takes texts only, no token ids. */
  token_ids: Type.Optional(Type.Boolean()),
  /** Field that makes the engine truncate inputs at the context length: `truncate_prompt_tokens` of vLLM. */
  truncate_field: Type.Optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' })),
});

/** How a decision model is called. */
const DecisionCapabilities = Closed({
  /** `completions` scores each answer as the continuation of a prompt; `systemone` forwards the questions to another Sluice. */
  asked_by: Type.Enum(['completions', 'systemone']),
});

/** How a rerank model is called. */
const RerankCapabilities = Closed({
  /** `rerank`, the default, as vLLM, SGLang, llama.cpp, Infinity and Jina take it; `tei` as Text Embeddings Inference does. */
  asked_by: Type.Optional(Type.Enum(['rerank', 'tei'])),
  /** Documents the engine takes in one call; more are split. All at once by default: some models compare them. */
  batch: Type.Optional(Type.Integer({ minimum: 1 })),
});

const Whole = Type.Integer({ minimum: 1 });
const Times = Type.Number({ exclusiveMinimum: 0 });

/** Seconds that may be requested. */
const Durations = Closed({ min: Whole, max: Whole, default: Whole });

/** One way to render: how many steps, and how many times the price of a second. */
const VideoTier = Closed({
  steps: Whole,
  /** Where reference media guide the picture. */
  reference_steps: Type.Optional(Whole),
  price: Times,
});

const VideoResolution = Closed({
  /** `WxH` by aspect ratio, the default ratio first; every resolution has the same ratios. */
  sizes: Type.Record(
    Type.String({ pattern: '^[1-9][0-9]?:[1-9][0-9]?$' }),
    Type.String({
      pattern: '^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$',
      description: 'a width and a height such as 1344x768',
    }),
  ),
  /** Rendered at half the size and then enlarged, on the turbo schedule only. */
  enlarged: Type.Optional(Type.Boolean()),
  /** How many times a second costs, and how many times as long it takes; once by default. */
  price: Type.Optional(Times),
  time: Type.Optional(Times),
});

/** What a video model renders. Without it, or where it contradicts itself, the model is not served. */
export const VideoCapabilities = Closed({
  duration: Durations,
  /** By name, the default first. */
  resolutions: Type.Record(Type.String({ pattern: '^[A-Za-z0-9.]{1,16}$' }), VideoResolution),
  fps: Whole,
  /** The frames of a clip are a multiple of this: its length is rounded up to it. */
  frame_step: Whole,
  tiers: Closed({ turbo: VideoTier, standard: Type.Optional(VideoTier), max: Type.Optional(VideoTier) }),
  /** Steps that may be requested by number; from `base` on the base model runs, a second of which costs steps / `per_price`. */
  steps: Closed({ min: Whole, max: Whole, base: Whole, per_price: Whole }),
  frame_images: Type.Array(Type.Enum(['first_frame', 'last_frame'])),
  /** Most reference media of each kind, and in all; absent: it takes none. */
  references: Type.Optional(
    Closed({
      images: Type.Integer({ minimum: 0 }),
      videos: Type.Integer({ minimum: 0 }),
      audio: Type.Integer({ minimum: 0 }),
      total: Whole,
    }),
  ),
  /** Seconds that a second of video takes to render. */
  render_time: Closed({ plain: Times, references: Times }),
  /** Parameters of the engine's `/videos`: as OpenAI's, in JSON, by default; `vllm`: the form of vLLM-Omni. */
  asked_by: Type.Optional(Type.Enum(['openai', 'vllm'])),
});
export type VideoCapabilities = Static<typeof VideoCapabilities>;

/** What a music model renders. Without it, or where it contradicts itself, the model is not served. */
export const MusicCapabilities = Closed({
  duration: Durations,
  /** The default first. */
  formats: Type.Array(Type.Enum(['mp3', 'wav', 'flac', 'opus']), { minItems: 1, uniqueItems: true }),
  /** Songs of one request. */
  max_outputs: Whole,
  /** Most characters of lyrics; absent: it takes none. */
  max_lyrics: Type.Optional(Whole),
  /** Whether a song can be played while it renders, and the layout of its samples. */
  streaming: Closed({
    progressive: Type.Boolean(),
    sample_rate: Whole,
    channels: Type.Integer({ minimum: 1, maximum: 2 }),
  }),
  /** Seconds that a second of music takes to render. */
  render_time: Times,
});
export type MusicCapabilities = Static<typeof MusicCapabilities>;

/** How a speech model is called, beside its voices. */
const SpeechCapabilities = Closed({
  /** Makes a voice from a description. */
  design: Type.Optional(Type.Boolean()),
  /** Clones the voice of a clip. */
  clone: Type.Optional(Type.Boolean()),
  /** Parameters for designed and cloned voices: of vLLM-Omni, or of another Sluice; plain OpenAI servers have none. */
  asked_by: Type.Optional(Type.Enum(['openai', 'vllm', 'sluice'])),
  /** Format requested from the engine; anything but `pcm`, the default, is decoded by the gateway. */
  engine_format: Type.Optional(Type.Enum(['pcm', 'wav', 'mp3', 'opus', 'flac', 'aac'])),
  /** Samples a second of the engine's `pcm`; 24000 by default. */
  engine_rate: Type.Optional(Type.Integer({ minimum: 8000, maximum: 192_000 })),
});

/** How a transcription model is called. */
const TranscriptionCapabilities = Closed({
  /** The engine streams its text; true by default. */
  streams: Type.Optional(Type.Boolean()),
  /** Containers the engine reads; a file in another is converted to the first of them. All by default. */
  formats: Type.Optional(
    Type.Array(Type.Enum(['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac']), { minItems: 1 }),
  ),
});

/** What a model of a kind can do beyond its common fields; only the member of the model's own kind may be there. */
const Capabilities = Closed({
  embedding: Type.Optional(EmbeddingCapabilities),
  decision: Type.Optional(DecisionCapabilities),
  rerank: Type.Optional(RerankCapabilities),
  speech: Type.Optional(SpeechCapabilities),
  transcription: Type.Optional(TranscriptionCapabilities),
  image: Type.Optional(ImageCapabilities),
  video: Type.Optional(VideoCapabilities),
  music: Type.Optional(MusicCapabilities),
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
