/** JSON that the framings of the messages format share. */
import type { FinishReason, Part, TokenUsage } from '../../src/ports/engines/chat.ts';
import type { Thinker } from '../../src/signatures/signing.ts';
import type { MessagesFraming } from './read-request.ts';

export interface MessageForm extends MessagesFraming {
  readonly id: string;
  readonly model: string;
  readonly thinker: Thinker;
  /** Stop sequences of the request. */
  readonly stop: readonly string[];
}

export type Finish = Extract<Part, { type: 'finish' }>;

/** The fields of a whole message; `content` and `ending` are JSON already. */
export const messageJson = (
  { id, model }: MessageForm,
  content: string,
  ending: string,
  usage: TokenUsage,
): string =>
  `{"id":${JSON.stringify(id)},"type":"message","role":"assistant","model":${JSON.stringify(model)},` +
  `"content":[${content}],${ending},"diagnostics":null,` +
  `"usage":{${countsJson(usage)},"cache_creation":null,"service_tier":"standard","inference_geo":null,"speed":null}}`;

/** The prompt's tokens are those that were not read from a cache. */
export const countsJson = ({ prompt, completion, cached, reasoning }: TokenUsage): string =>
  `"input_tokens":${Math.max(0, prompt - cached)},"cache_creation_input_tokens":0,"cache_read_input_tokens":${cached},` +
  `"output_tokens":${completion},"output_tokens_details":{"thinking_tokens":${reasoning}},"server_tool_use":null`;

/** How a message ends; nulls until then. */
export const endingJson = (reason: string | null, stopSequence: string | null): string =>
  `"stop_reason":${JSON.stringify(reason)},"stop_sequence":${JSON.stringify(stopSequence)},` +
  `"stop_details":null,"container":null`;

/** An engine that reported no finish just stopped. */
export const finishJson = (finish: Finish | undefined, { stop }: MessageForm): string => {
  const matched = finish?.reason === 'stop' ? finish.stopSequence : undefined;
  if (matched === true && stop.length > 0)
    return endingJson('stop_sequence', stop.length === 1 ? (stop[0] ?? null) : null);
  if (typeof matched === 'string' && stop.includes(matched)) return endingJson('stop_sequence', matched);
  return endingJson(reasons[finish?.reason ?? 'stop'], null);
};

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};
