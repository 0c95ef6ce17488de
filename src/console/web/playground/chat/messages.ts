/** The dialect of `POST /messages`. */
import type { ServerEvent } from '../../api/sse.ts';
import { FileText, type JsonObject, mediaTypeOf, type PickedFile } from '../call.ts';
import type { Answer } from './answer.ts';
import { argumentsOf, fileKindOf, type Settings, type Turn } from './conversation.ts';

/** Required there. */
const defaultMaxTokens = 1024;

const blockOf = (file: PickedFile): JsonObject => {
  const source = { type: 'base64', media_type: mediaTypeOf(file), data: new FileText(file) };
  return fileKindOf(file) === 'image'
    ? { type: 'image', source }
    : { type: 'document', title: file.name, source };
};

const messageOf = (turn: Turn): JsonObject => {
  if (turn.role === 'user')
    return {
      role: 'user',
      content:
        turn.files.length === 0 ? turn.text : [...turn.files.map(blockOf), { type: 'text', text: turn.text }],
    };
  if (turn.role === 'tool')
    return {
      role: 'user',
      content: turn.results.map(({ call, text }) => ({
        ...{ type: 'tool_result', tool_use_id: call.id, content: text },
      })),
    };
  return {
    role: 'assistant',
    content: [
      ...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]),
      ...turn.calls.map((call) => ({
        ...{ type: 'tool_use', id: call.id, name: call.name, input: argumentsOf(call) },
      })),
    ],
  };
};

interface MessageEvent {
  readonly type: string;
  readonly index?: number;
  readonly message?: { readonly usage: MessageUsage };
  readonly content_block?: { readonly type: string; readonly id?: string; readonly name?: string };
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly partial_json?: string;
    readonly stop_reason?: string;
  };
  readonly usage?: MessageUsage;
  readonly error?: { readonly message: string };
}

interface MessageUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details?: { readonly thinking_tokens: number };
}

export const messages = {
  body: (turns: readonly Turn[], settings: Settings): JsonObject => {
    const effort = settings.effort === '' || settings.effort === 'none' ? undefined : settings.effort;
    const format = settings.schema && { type: 'json_schema', schema: settings.schema };
    return {
      model: settings.model,
      max_tokens: settings.maxTokens ?? defaultMaxTokens,
      system: settings.system === '' ? undefined : settings.system,
      messages: turns.map(messageOf),
      stream: true,
      temperature: settings.temperature,
      thinking: effort === undefined ? undefined : { type: 'adaptive' },
      output_config: effort === undefined && format === undefined ? undefined : { effort, format },
      tools:
        settings.tools.length === 0
          ? undefined
          : settings.tools.map(({ name, description, parameters }) => ({
              name,
              description,
              input_schema: parameters ?? { type: 'object' },
            })),
    };
  },

  read: ({ data }: ServerEvent, answer: Answer): void => {
    const event = JSON.parse(data) as MessageEvent;
    const { delta, content_block: block, index = 0 } = event;
    const usage = event.usage ?? event.message?.usage;
    if (block?.type === 'tool_use') answer.addCall(index, { id: block.id ?? '', name: block.name ?? '' });
    if (delta?.type === 'text_delta') answer.addText(delta.text ?? '');
    if (delta?.type === 'thinking_delta') answer.addReasoning(delta.thinking ?? '');
    if (delta?.type === 'input_json_delta') answer.addCall(index, { arguments: delta.partial_json ?? '' });
    if (delta?.stop_reason) answer.finish = delta.stop_reason;
    if (usage !== undefined)
      answer.usage = {
        // Read from the cache are not counted as input there.
        prompt: usage.input_tokens + usage.cache_read_input_tokens,
        cached: usage.cache_read_input_tokens,
        completion: usage.output_tokens,
        reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
      };
    if (event.type === 'error') answer.failure = event.error?.message ?? 'The stream failed';
  },
};
