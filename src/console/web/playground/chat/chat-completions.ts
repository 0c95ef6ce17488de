/** The dialect of `POST /chat/completions`. */
import type { ServerEvent } from '../../api/sse.ts';
import { dataUri, FileText, type Json, type JsonObject, type PickedFile } from '../call.ts';
import type { Answer, Passage } from './answer.ts';
import { audioFormatOf, fileKindOf, type Settings, type Turn } from './conversation.ts';

const partOf = (file: PickedFile): JsonObject => {
  const kind = fileKindOf(file);
  if (kind === 'image') return { type: 'image_url', image_url: { url: dataUri(file) } };
  if (kind === 'video') return { type: 'video_url', video_url: { url: dataUri(file) } };
  if (kind === 'audio')
    return { type: 'input_audio', input_audio: { data: new FileText(file), format: audioFormatOf(file) } };
  return { type: 'file', file: { filename: file.name, file_data: dataUri(file) } };
};

const messagesOf = (turn: Turn): readonly JsonObject[] => {
  if (turn.role === 'user')
    return [
      {
        role: 'user',
        content:
          turn.files.length === 0
            ? turn.text
            : [...turn.files.map(partOf), { type: 'text', text: turn.text }],
      },
    ];
  if (turn.role === 'tool')
    return turn.results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call.id, content: text }));
  return [
    {
      role: 'assistant',
      content: turn.text,
      tool_calls:
        turn.calls.length === 0
          ? undefined
          : turn.calls.map((call) => ({
              ...{ id: call.id, type: 'function' },
              function: { name: call.name, arguments: call.arguments },
            })),
    },
  ];
};

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number };
    readonly completion_tokens_details?: { readonly reasoning_tokens?: number };
  } | null;
  readonly error?: { readonly message: string };
  readonly context?: readonly Passage[];
}

export const chatCompletions = {
  body: (turns: readonly Turn[], settings: Settings): JsonObject => ({
    model: settings.model,
    messages: [
      ...(settings.system === '' ? [] : [{ role: 'system', content: settings.system }]),
      ...turns.flatMap(messagesOf),
    ] satisfies Json,
    stream: true,
    temperature: settings.temperature,
    max_completion_tokens: settings.maxTokens,
    reasoning_effort: settings.effort === '' ? undefined : settings.effort,
    tools:
      settings.tools.length === 0
        ? undefined
        : settings.tools.map((tool) => ({ type: 'function', function: { ...tool } })),
    response_format:
      settings.schema === undefined
        ? undefined
        : { type: 'json_schema', json_schema: { name: 'response', schema: settings.schema } },
  }),

  read: ({ data }: ServerEvent, answer: Answer): void => {
    if (data === '[DONE]') return;
    const { choices, usage, error, context } = JSON.parse(data) as Chunk;
    if (context !== undefined) answer.context = context;
    const [choice] = choices ?? [];
    const { content, reasoning, tool_calls: calls } = choice?.delta ?? {};
    if (reasoning) answer.addReasoning(reasoning);
    if (content) answer.addText(content);
    for (const { index, id, function: part } of calls ?? [])
      answer.addCall(index, { ...(id === undefined ? {} : { id }), ...part });
    if (choice?.finish_reason) answer.finish = choice.finish_reason;
    if (usage)
      answer.usage = {
        prompt: usage.prompt_tokens,
        cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
        completion: usage.completion_tokens,
        reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
      };
    if (error !== undefined) answer.failure = error.message;
  },
};
