/** A model and a call to start from: tests say only what matters to them. */
import type { Model } from '../../schemas/catalog.ts';
import type { ChatCall, Parts } from '../../src/ports/chat.ts';
import { fromJsonText } from '../../src/ports/chat.ts';

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

export const thinker = sampleModel({ reasoning: { mandatory: false } });

export const sampleCall = (change: Partial<ChatCall> = {}): ChatCall => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
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
  ...change,
});

/** Parts with their texts unescaped: two escapings of one text are equal. */
export const readable = (parts: Parts) =>
  parts.map((part) => ('text' in part ? { ...part, text: fromJsonText(part.text) } : part));

type ReadablePart = ReturnType<typeof readable>[number];

/** Runs of text, reasoning or arguments joined into one, so that expectations stay short. */
export const joined = (parts: Parts): readonly ReadablePart[] => {
  const list: ReadablePart[] = [];
  for (const part of readable(parts)) {
    const last = list.at(-1);
    if (last !== undefined && 'text' in last && 'text' in part && sameRun(last, part)) {
      list[list.length - 1] = { ...last, text: last.text + part.text };
    } else list.push(part);
  }
  return list;
};

const sameRun = (left: ReadablePart, right: ReadablePart): boolean =>
  left.type === right.type &&
  'choice' in left &&
  'choice' in right &&
  left.choice === right.choice &&
  !('logprobs' in left) &&
  !('logprobs' in right) &&
  (!('call' in left) || !('call' in right) || left.call === right.call);
