/** What a model of each kind can do, and how its engine is called: `capabilities` of a row. */
import Type from 'typebox';
import { ImageCapabilities } from './image-capabilities.ts';
import { MusicCapabilities, VideoCapabilities } from './render-capabilities.ts';
import { Closed } from './shapes.ts';

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
export const Capabilities = Closed({
  embedding: Type.Optional(EmbeddingCapabilities),
  decision: Type.Optional(DecisionCapabilities),
  rerank: Type.Optional(RerankCapabilities),
  speech: Type.Optional(SpeechCapabilities),
  transcription: Type.Optional(TranscriptionCapabilities),
  image: Type.Optional(ImageCapabilities),
  video: Type.Optional(VideoCapabilities),
  music: Type.Optional(MusicCapabilities),
});
