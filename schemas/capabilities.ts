/** What a model of each kind can do, and how its engine is called: `capabilities` of a row. */
import Type from 'typebox';
import { ImageCapabilities } from './image-capabilities.ts';
import { MusicCapabilities, VideoCapabilities } from './render-capabilities.ts';
import { Closed, Described } from './shapes.ts';

/** How an embedding model is called. */
const EmbeddingCapabilities = Closed({
  dimensions: Described(Type.Integer({ minimum: 1 }), 'Length of its vectors'),
  truncatable: Described(
    Type.Optional(Type.Boolean()),
    'Trained so that a vector can be truncated: `dimensions` may request fewer numbers',
  ),
  query_instruction: Described(
    Type.Optional(Type.String({ minLength: 1 })),
    'Put before a search query; absent on models that know no instructions',
  ),
  instruction_marker: Described(
    Type.Optional(Type.String({ minLength: 1 })),
    'A text that starts with this carries its own instruction and is sent as it is',
  ),
  batch: Described(
    Type.Optional(Type.Integer({ minimum: 1 })),
    'Inputs the engine takes in one call; larger batches are split',
  ),
  token_ids: Described(Type.Optional(Type.Boolean()), 'False: the engine takes texts only, no token ids'),
  truncate_field: Described(
    Type.Optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' })),
    'Field that makes the engine truncate inputs at the context length: `truncate_prompt_tokens` of vLLM',
  ),
});

/** How a decision model is called. */
const DecisionCapabilities = Closed({
  asked_by: Described(
    Type.Enum(['completions', 'systemone']),
    '`completions` scores each answer as the continuation of a prompt; `systemone` forwards the questions to another Sluice',
  ),
});

/** How a rerank model is called. */
const RerankCapabilities = Closed({
  asked_by: Described(
    Type.Optional(Type.Enum(['rerank', 'tei'])),
    '`rerank`, the default, as vLLM, SGLang, llama.cpp, Infinity and Jina take it; `tei` as Text Embeddings Inference does',
  ),
  batch: Described(
    Type.Optional(Type.Integer({ minimum: 1 })),
    'Documents the engine takes in one call; more are split. All at once by default: some models compare them',
  ),
});

/** How a speech model is called, beside its voices. */
const SpeechCapabilities = Closed({
  design: Described(Type.Optional(Type.Boolean()), 'Makes a voice from a description'),
  clone: Described(Type.Optional(Type.Boolean()), 'Clones the voice of a clip'),
  asked_by: Described(
    Type.Optional(Type.Enum(['openai', 'vllm', 'sluice'])),
    'Parameters for designed and cloned voices: of vLLM-Omni, or of another Sluice; plain OpenAI servers have none',
  ),
  engine_format: Described(
    Type.Optional(Type.Enum(['pcm', 'wav', 'mp3', 'opus', 'flac', 'aac'])),
    'Format requested from the engine; anything but `pcm`, the default, is decoded by the gateway',
  ),
  engine_rate: Described(
    Type.Optional(Type.Integer({ minimum: 8000, maximum: 192_000 })),
    "Samples a second of the engine's `pcm`; 24000 by default",
  ),
});

/** How a transcription model is called. */
const TranscriptionCapabilities = Closed({
  streams: Described(Type.Optional(Type.Boolean()), 'The engine streams its text; true by default'),
  formats: Described(
    Type.Optional(
      Type.Array(Type.Enum(['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac']), { minItems: 1 }),
    ),
    'Containers the engine reads; a file in another is converted to the first of them. All by default',
  ),
});

/** What a model of a kind can do beyond its common fields; only the member of the model's own kind may be there. */
export const Capabilities = Closed({
  embedding: Described(Type.Optional(EmbeddingCapabilities), 'How an embedding model is called'),
  decision: Described(Type.Optional(DecisionCapabilities), 'How a decision model is called'),
  rerank: Described(Type.Optional(RerankCapabilities), 'How a rerank model is called'),
  speech: Described(Type.Optional(SpeechCapabilities), 'How a speech model is called'),
  transcription: Described(Type.Optional(TranscriptionCapabilities), 'How a transcription model is called'),
  image: Described(
    Type.Optional(ImageCapabilities),
    'Rules of the requests of an image model; required for one',
  ),
  video: Described(Type.Optional(VideoCapabilities), 'What a video model renders; required for one'),
  music: Described(Type.Optional(MusicCapabilities), 'What a music model renders; required for one'),
});
