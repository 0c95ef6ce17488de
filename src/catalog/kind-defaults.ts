/** Defaults of a model row by kind: modalities, parameters and limits. */
import type { Model, ModelKind } from '../../schemas/catalog.ts';

interface KindDefaults {
  readonly input_modalities: readonly string[];
  readonly output_modalities: readonly string[];
  readonly supported_parameters: readonly string[];
  readonly limits: Model['limits'];
  /** Reads tokens, so that its context length is known and needed. */
  readonly tokenContext: boolean;
  /** Which half of `pricing` such a model may have. */
  readonly priced: 'both' | 'prompt' | 'completion';
}

/** Added to a chat model's parameters when it reasons. */
export const reasoningParameters: readonly string[] = ['reasoning', 'reasoning_effort', 'include_reasoning'];

const light = { concurrency: 512, requests_per_minute: 60_000 };
const heavy = { concurrency: 16, requests_per_minute: 600 };

export const kindDefaults: Readonly<Record<ModelKind, KindDefaults>> = {
  chat: {
    input_modalities: ['text'],
    output_modalities: ['text'],
    supported_parameters: [
      'max_tokens',
      'max_completion_tokens',
      'temperature',
      'top_p',
      'top_k',
      'frequency_penalty',
      'presence_penalty',
      'repetition_penalty',
      'seed',
      'stop',
      'n',
      'logprobs',
      'top_logprobs',
      'response_format',
      'structured_outputs',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
    ],
    limits: light,
    tokenContext: true,
    priced: 'both',
  },
  embedding: {
    input_modalities: ['text'],
    output_modalities: ['embeddings'],
    supported_parameters: ['dimensions', 'encoding_format', 'input_type'],
    limits: light,
    tokenContext: true,
    priced: 'prompt',
  },
  decision: {
    input_modalities: ['text'],
    output_modalities: ['decisions'],
    supported_parameters: ['state', 'questions'],
    limits: light,
    tokenContext: true,
    priced: 'prompt',
  },
  rerank: {
    input_modalities: ['text'],
    output_modalities: ['rerank'],
    supported_parameters: ['top_n', 'return_documents', 'max_tokens_per_doc'],
    limits: light,
    tokenContext: true,
    priced: 'prompt',
  },
  image: {
    input_modalities: ['text'],
    output_modalities: ['image'],
    supported_parameters: [
      'n',
      'size',
      'aspect_ratio',
      'resolution',
      'seed',
      'output_format',
      'output_compression',
      'background',
      'response_format',
      'num_inference_steps',
      'guidance_scale',
      'negative_prompt',
      'stream',
    ],
    limits: heavy,
    tokenContext: false,
    priced: 'completion',
  },
  video: {
    input_modalities: ['text', 'image', 'video', 'audio'],
    output_modalities: ['video'],
    supported_parameters: [
      'duration',
      'resolution',
      'aspect_ratio',
      'size',
      'frame_images',
      'input_references',
      'generate_audio',
      'seed',
      'num_inference_steps',
      'quality',
      'start_time_seconds',
      'callback_url',
    ],
    limits: heavy,
    tokenContext: false,
    priced: 'completion',
  },
  music: {
    input_modalities: ['text'],
    output_modalities: ['music'],
    supported_parameters: ['lyrics', 'duration', 'response_format', 'n', 'seed', 'callback_url'],
    limits: heavy,
    tokenContext: false,
    priced: 'completion',
  },
  speech: {
    input_modalities: ['text'],
    output_modalities: ['speech'],
    supported_parameters: [
      'voice',
      'instructions',
      'language',
      'response_format',
      'stream_format',
      'speed',
      'seed',
      'temperature',
      'top_p',
      'top_k',
    ],
    limits: { concurrency: 64, requests_per_minute: 3000 },
    tokenContext: false,
    priced: 'completion',
  },
  transcription: {
    input_modalities: ['audio'],
    output_modalities: ['transcription'],
    supported_parameters: ['language', 'prompt', 'temperature', 'response_format', 'stream'],
    limits: { concurrency: 64, requests_per_minute: 3000 },
    tokenContext: false,
    priced: 'prompt',
  },
};
