/** Examples of the model catalog. */

const entry = {
  id: 'sluice/chat',
  object: 'model',
  owned_by: 'sluice',
  canonical_slug: 'sluice/chat',
  hugging_face_id: null,
  name: 'Chat',
  created: 1767225600,
  description: 'General chat with tools and structured output.',
  context_length: 131072,
  architecture: {
    modality: 'text->text',
    input_modalities: ['text'],
    output_modalities: ['text'],
    tokenizer: 'Other',
    instruct_type: null,
  },
  pricing: { prompt: '0.0000003', completion: '0.0000012', input_cache_read: '0.00000003' },
  top_provider: { context_length: 131072, max_completion_tokens: 32768, is_moderated: false },
  per_request_limits: null,
  supported_parameters: ['max_tokens', 'temperature', 'tools'],
  default_parameters: { temperature: 1, top_p: 1 },
  supported_voices: null,
  links: { details: '/v1/model/sluice/chat' },
};

const embedding = {
  ...entry,
  id: 'sluice/embed',
  canonical_slug: 'sluice/embed',
  name: 'Embed',
  description: 'Text embeddings of a fixed length.',
  context_length: 8192,
  architecture: { ...entry.architecture, modality: 'text->embeddings', output_modalities: ['embeddings'] },
  pricing: { prompt: '0.00000002', completion: '0' },
  top_provider: { context_length: 8192, max_completion_tokens: null, is_moderated: false },
  supported_parameters: ['dimensions', 'encoding_format'],
  default_parameters: null,
  links: { details: '/v1/model/sluice/embed' },
};

const messagesEntry = {
  type: 'model',
  id: 'sluice/chat',
  display_name: 'Chat',
  created_at: '2026-01-01T00:00:00.000Z',
  max_input_tokens: 131072,
  max_tokens: 32768,
  capabilities: null,
  lifecycle: 'active',
  line: null,
  deprecated_at: null,
  retires_at: null,
};

const json = (examples: Readonly<Record<string, unknown>>) => ({
  response: { 'application/json': examples },
});

export const modelListExamples = json({
  'One model': { object: 'list', data: [entry], total_count: 1, links: { next: null } },
  'One model in the messages format': {
    data: [messagesEntry],
    has_more: false,
    first_id: 'sluice/chat',
    last_id: 'sluice/chat',
  },
});

export const modelCountExamples = json({ 'Fourteen models': { data: { count: 14 } } });

export const modelExamples = json({ 'A model': entry, 'A model in the messages format': messagesEntry });

export const publicModelExamples = json({ 'A model': { data: entry } });

export const embeddingModelsExamples = json({
  'The first of two': {
    object: 'list',
    data: [embedding],
    total_count: 2,
    links: { next: '/v1/embeddings/models?limit=1&offset=1' },
  },
});
