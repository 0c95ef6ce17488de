/** The catalog of a gateway without a `sluice.yaml`: a model of each kind on the simulator. */
import type { ModelRow } from '../../schemas/catalog.ts';
import type { VideoCapabilities } from '../../schemas/render-capabilities.ts';
import { SIMULATOR } from '../../schemas/simulator.ts';
import { defaultImage, editImage } from './image-models.ts';
import type { CatalogConfig } from './model-index.ts';
import { resolveRow } from './resolve-row.ts';

/** 2026-01-01, so that the same release answers the same everywhere. */
const created = 1_767_225_600;
const simulated = { engine: SIMULATOR, created };

/** The primary video model as the contract has it; 4 seconds come out as 4.4. */
const primaryVideo: VideoCapabilities = {
  duration: { min: 4, max: 15, default: 6 },
  resolutions: {
    '768p': {
      sizes: {
        '16:9': '1344x768',
        '9:16': '768x1344',
        '4:3': '1024x768',
        '3:4': '768x1024',
        '1:1': '768x768',
        '21:9': '1536x672',
      },
    },
    '2K': {
      sizes: {
        '16:9': '2688x1536',
        '9:16': '1536x2688',
        '4:3': '2048x1536',
        '3:4': '1536x2048',
        '1:1': '1536x1536',
        '21:9': '3072x1344',
      },
      enlarged: true,
      price: 4,
      time: 3,
    },
  },
  fps: 24,
  frame_step: 15,
  tiers: {
    turbo: { steps: 4, reference_steps: 8, price: 1 },
    standard: { steps: 20, price: 3 },
    max: { steps: 40, price: 5 },
  },
  steps: { min: 4, max: 50, base: 10, per_price: 6 },
  frame_images: ['first_frame', 'last_frame'],
  references: { images: 9, videos: 3, audio: 3, total: 12 },
  render_time: { plain: 3, references: 5 },
};

const rows: Readonly<Record<string, ModelRow>> = {
  'sluice/chat': {
    ...simulated,
    name: 'Chat',
    description: 'General chat with tools and structured output; answers at once, without reasoning.',
    legacy_ids: ['sluice/chat-preview'],
    context_length: 131_072,
    max_completion_tokens: 32_768,
    pricing: { prompt: '0.0000003', completion: '0.0000012', input_cache_read: '0.00000003' },
    default_parameters: { temperature: 1, top_p: 1 },
  },
  'sluice/reasoner': {
    ...simulated,
    name: 'Reasoner',
    description: 'Chat that thinks before it answers; efforts and thinking budgets are enforced.',
    context_length: 131_072,
    max_completion_tokens: 65_536,
    pricing: {
      prompt: '0.0000006',
      completion: '0.0000024',
      internal_reasoning: '0.0000024',
      input_cache_read: '0.00000006',
    },
    reasoning: {
      mandatory: false,
      supports_max_tokens: true,
      supported_efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      default_effort: 'medium',
      default_enabled: true,
    },
    default_parameters: { temperature: 1, top_p: 1 },
  },
  'sluice/reasoner-lite': {
    ...simulated,
    name: 'Reasoner Lite',
    description: 'Chat that always thinks; takes an effort, but no budget.',
    context_length: 32_768,
    max_completion_tokens: 16_384,
    pricing: { prompt: '0.0000002', completion: '0.0000008', internal_reasoning: '0.0000008' },
    reasoning: {
      mandatory: true,
      supports_max_tokens: false,
      supported_efforts: ['low', 'medium', 'high'],
      default_effort: 'medium',
      default_enabled: true,
    },
  },
  'sluice/vision': {
    ...simulated,
    name: 'Vision',
    description: 'Chat that also reads images, audio, video and documents.',
    context_length: 65_536,
    max_completion_tokens: 16_384,
    input_modalities: ['text', 'image', 'audio', 'video', 'file'],
    pricing: { prompt: '0.0000005', completion: '0.000002' },
  },
  'sluice/chat-small': {
    ...simulated,
    name: 'Chat Small',
    description: 'Chat with a small window: shows what a client does when a prompt no longer fits.',
    context_length: 4096,
    max_completion_tokens: 2048,
    pricing: { prompt: '0.0000001', completion: '0.0000004' },
  },
  'sluice/embed': {
    ...simulated,
    kind: 'embedding',
    name: 'Embed',
    description: 'Text embeddings of a fixed length.',
    context_length: 8192,
    pricing: { prompt: '0.00000002' },
    supported_parameters: ['encoding_format'],
    per_request_limits: { max_inputs: 2048 },
    capabilities: { embedding: { dimensions: 384, batch: 256 } },
  },
  'sluice/embed-instruct': {
    ...simulated,
    kind: 'embedding',
    name: 'Embed Instruct',
    description: 'Text embeddings that know queries from documents and may be shortened.',
    context_length: 32_768,
    pricing: { prompt: '0.00000005' },
    per_request_limits: { max_inputs: 2048 },
    capabilities: {
      embedding: {
        dimensions: 1024,
        truncatable: true,
        query_instruction: 'Instruct: Given a search query, retrieve passages that answer it\nQuery: ',
        instruction_marker: 'Instruct:',
        batch: 64,
      },
    },
  },
  'sluice/decide': {
    ...simulated,
    kind: 'decision',
    name: 'Decide',
    description: 'Answers typed questions about a state as probabilities.',
    context_length: 16_384,
    pricing: { prompt: '0.0000001' },
    per_request_limits: { max_questions: 64, max_options: 255, max_levels: 10 },
  },
  'sluice/rerank': {
    ...simulated,
    kind: 'rerank',
    name: 'Rerank',
    description: 'Orders documents by their relevance to a query.',
    context_length: 8192,
    pricing: { prompt: '0.00000002' },
    per_request_limits: { max_documents: 1000 },
  },
  'sluice/image': {
    ...simulated,
    kind: 'image',
    name: 'Image',
    description: 'Images from text in a few steps; the default image model.',
    pricing: { completion: '0.005' },
    capabilities: { image: defaultImage },
  },
  'sluice/image-edit': {
    ...simulated,
    kind: 'image',
    name: 'Image Edit',
    description: 'Images from text and from up to ten reference images.',
    input_modalities: ['text', 'image'],
    pricing: { completion: '0.02' },
    capabilities: { image: editImage },
  },
  'sluice/video': {
    ...simulated,
    kind: 'video',
    name: 'Video',
    description: 'Clips of 4 to 15 seconds with sound, from text, frames or references.',
    pricing: { completion: '0.04' },
    per_request_limits: { max_prompt_length: 7000, max_duration: 15, max_input_references: 12 },
    capabilities: { video: primaryVideo },
  },
  'sluice/music': {
    ...simulated,
    kind: 'music',
    name: 'Music',
    description: 'Songs from a description and lyrics; can be heard while they render.',
    pricing: { completion: '0.002' },
    per_request_limits: { max_prompt_length: 2000, max_duration: 240 },
    capabilities: {
      music: {
        duration: { min: 5, max: 240, default: 60 },
        formats: ['mp3', 'wav', 'flac', 'opus'],
        max_outputs: 4,
        max_lyrics: 4000,
        streaming: { progressive: true, sample_rate: 32_000, channels: 2 },
        render_time: 0.5,
      },
    },
  },
  'sluice/speech': {
    ...simulated,
    kind: 'speech',
    name: 'Speech',
    description: 'Speech by built-in speakers, by a described voice or by a cloned one.',
    input_modalities: ['text', 'audio'],
    pricing: { completion: '0.0003' },
    per_request_limits: { max_prompt_length: 4096 },
    voices: ['ada', 'ben', 'cleo', 'dan'],
    capabilities: { speech: { design: true, clone: true } },
  },
  'sluice/transcribe': {
    ...simulated,
    kind: 'transcription',
    name: 'Transcribe',
    description: 'Text from recorded speech.',
    pricing: { prompt: '0.0001' },
    per_request_limits: { max_duration: 14_400 },
  },
};

export const defaultCatalog: CatalogConfig = {
  engines: {},
  models: Object.entries(rows).map(([id, row]) => resolveRow(id, row)),
  defaults: { chat: 'sluice/chat', embedding: 'sluice/embed', image: 'sluice/image' },
  servedList: undefined,
};
