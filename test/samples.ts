/** A sample model and call, of which tests change what matters to them. */
import type { Model } from '../schemas/catalog.ts';
import type { ChatCall, ChatMessage } from '../src/ports/engines/chat.ts';

export const sampleModel = (change: Partial<Model> = {}): Model => ({
  id: 'acme/writer-large',
  kind: 'chat',
  name: 'Writer',
  description: '',
  created: 1,
  engine: 'pool-a',
  served_as: 'writer-large-fp8',
  served: true,
  private: false,
  legacy_ids: [],
  tokenizer: 'o200k_base',
  input_modalities: ['text'],
  output_modalities: ['text'],
  pricing: { prompt: '0', completion: '0' },
  is_moderated: false,
  supported_parameters: [],
  limits: { concurrency: 1, requests_per_minute: 1 },
  ...change,
});

export const userSays = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] });

export const sampleCall = (change: Partial<ChatCall> = {}): ChatCall => ({
  messages: [userSays('Hello')],
  stream: true,
  maxTokens: 100,
  n: 1,
  continueFinal: false,
  thinking: { effort: undefined, budget: undefined },
  sampling: {},
  stop: [],
  logprobs: undefined,
  tools: [],
  toolChoice: 'auto',
  parallelToolCalls: undefined,
  format: { type: 'text' },
  user: undefined,
  forwarded: undefined,
  ...change,
});

/** What routes make of a request that says only `Hi`. */
export const plainCall = (change: Partial<ChatCall> = {}): ChatCall =>
  sampleCall({
    messages: [userSays('Hi')],
    stream: false,
    maxTokens: 32_768,
    sampling: { temperature: 1, topP: 1 },
    toolChoice: 'none',
    ...change,
  });
