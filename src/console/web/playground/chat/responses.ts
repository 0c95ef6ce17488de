/** The dialect of `POST /responses`. */
import type { ServerEvent } from '../../api/sse.ts';
import { dataUri, FileText, type JsonObject, type PickedFile } from '../call.ts';
import type { Answer } from './answer.ts';
import { audioFormatOf, fileKindOf, type Settings, type Turn } from './conversation.ts';

const partOf = (file: PickedFile): JsonObject => {
  const kind = fileKindOf(file);
  if (kind === 'image') return { type: 'input_image', image_url: dataUri(file) };
  if (kind === 'video') return { type: 'input_video', video_url: dataUri(file) };
  if (kind === 'audio')
    return { type: 'input_audio', input_audio: { data: new FileText(file), format: audioFormatOf(file) } };
  return { type: 'input_file', filename: file.name, file_data: dataUri(file) };
};

const itemsOf = (turn: Turn): readonly JsonObject[] => {
  if (turn.role === 'user')
    return [
      {
        role: 'user',
        content:
          turn.files.length === 0
            ? turn.text
            : [...turn.files.map(partOf), { type: 'input_text', text: turn.text }],
      },
    ];
  if (turn.role === 'tool')
    return turn.results.map(({ call, text }) => ({
      ...{ type: 'function_call_output', call_id: call.id, output: text },
    }));
  return [
    ...(turn.text === '' ? [] : [{ role: 'assistant', content: turn.text }]),
    ...turn.calls.map((call) => ({
      ...{ type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments },
    })),
  ];
};

interface ResponseEvent {
  readonly type: string;
  readonly delta?: string;
  readonly output_index?: number;
  readonly item?: { readonly type: string; readonly call_id?: string; readonly name?: string };
  readonly response?: {
    readonly status: string;
    readonly usage?: {
      readonly input_tokens: number;
      readonly input_tokens_details?: { readonly cached_tokens?: number };
      readonly output_tokens: number;
      readonly output_tokens_details?: { readonly reasoning_tokens?: number };
    } | null;
    readonly error?: { readonly message: string } | null;
  };
}

export const responses = {
  body: (turns: readonly Turn[], settings: Settings): JsonObject => ({
    model: settings.model,
    instructions: settings.system === '' ? undefined : settings.system,
    input: turns.flatMap(itemsOf),
    stream: true,
    temperature: settings.temperature,
    max_output_tokens: settings.maxTokens,
    reasoning: settings.effort === '' ? undefined : { effort: settings.effort },
    tools:
      settings.tools.length === 0
        ? undefined
        : settings.tools.map((tool) => ({ type: 'function', ...tool, strict: false })),
    text:
      settings.schema === undefined
        ? undefined
        : { format: { type: 'json_schema', name: 'response', schema: settings.schema } },
  }),

  read: ({ data }: ServerEvent, answer: Answer): void => {
    const { type, delta = '', output_index: index = 0, item, response } = JSON.parse(data) as ResponseEvent;
    if (type === 'response.output_text.delta') answer.addText(delta);
    if (type === 'response.reasoning_text.delta') answer.addReasoning(delta);
    if (type === 'response.function_call_arguments.delta') answer.addCall(index, { arguments: delta });
    if (type === 'response.output_item.added' && item?.type === 'function_call')
      answer.addCall(index, { id: item.call_id ?? '', name: item.name ?? '' });
    if (!/^response\.(completed|incomplete|failed)$/.test(type) || response === undefined) return;
    const { usage, error, status } = response;
    answer.finish = status;
    if (usage)
      answer.usage = {
        prompt: usage.input_tokens,
        cached: usage.input_tokens_details?.cached_tokens ?? 0,
        completion: usage.output_tokens,
        reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
      };
    if (error) answer.failure = error.message;
  },
};
