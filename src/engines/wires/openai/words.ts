/** Maps finish reasons, usage and log-probabilities of OpenAI-like servers to ours. */
import type { FinishReason, Logprob, Part, TokenUsage } from '../../../ports/engines/chat.ts';
import { isObject, type Json } from '../shared/json.ts';

export type Finish = Extract<Part, { type: 'finish' }>;

const reasons = new Map<string, FinishReason | 'error'>([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['end_turn', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_length', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
  ['error', 'error'],
  ['abort', 'error'],
  ['aborted', 'error'],
  ['cancelled', 'error'],
]);

/** Servers disagree on whether a response of tool calls ends with `stop`; ours ends with `tool_calls`. */
export const finishReason = (native: string, calledTools: boolean): FinishReason | 'error' => {
  const reason = reasons.get(native.toLowerCase()) ?? 'stop';
  return reason === 'stop' && calledTools ? 'tool_calls' : reason;
};

/**
 * `stop_reason` of vLLM, `matched_stop` of SGLang; a number is a token id, not a sequence of the client. True where a
 * server says that one matched, but not which.
 */
export const stopSequence = (choice: Json): Finish['stopSequence'] => {
  const matched = choice.stop_reason ?? choice.matched_stop;
  if (typeof matched === 'string' && matched !== '') return matched;
  return choice.finish_reason === 'stop_sequence' ? true : undefined;
};

/** Undefined when the counts are missing or no counts at all. */
export const tokenUsage = (value: unknown): TokenUsage | undefined => {
  if (!isObject(value)) return undefined;
  const prompt = count(value.prompt_tokens);
  const completion = count(value.completion_tokens);
  if (prompt === undefined || completion === undefined) return undefined;
  const promptDetails = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : none;
  const completionDetails = isObject(value.completion_tokens_details)
    ? value.completion_tokens_details
    : none;
  return {
    prompt,
    completion,
    cached: Math.min(count(promptDetails.cached_tokens) ?? 0, prompt),
    reasoning: Math.min(
      count(completionDetails.reasoning_tokens) ?? count(value.reasoning_tokens) ?? 0,
      completion,
    ),
  };
};

const none: Json = {};

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** The per-token list under `logprobs.content`; servers leave `bytes` and `top_logprobs` out at will. */
export const logprobs = (value: unknown): readonly Logprob[] | undefined => {
  if (!isObject(value)) return undefined;
  if (!Array.isArray(value.content)) return textLogprobs(value);
  const list = value.content.flatMap((item: unknown) => {
    const own = tokenLogprob(item);
    if (own === undefined || !isObject(item)) return [];
    const top: unknown = item.top_logprobs;
    const others = Array.isArray(top) ? top.flatMap((other: unknown) => tokenLogprob(other) ?? []) : [];
    return [{ ...own, top_logprobs: others }];
  });
  return list.length > 0 ? list : undefined;
};

/** The lists of a text completion; llama.cpp writes those of a chat there too. */
const textLogprobs = ({ tokens, token_logprobs, top_logprobs }: Json): readonly Logprob[] | undefined => {
  if (!Array.isArray(tokens) || !Array.isArray(token_logprobs) || tokens.length === 0) return undefined;
  const tops: readonly unknown[] = Array.isArray(top_logprobs) ? top_logprobs : [];
  return tokens.map((token: unknown, at) => {
    const logprob: unknown = token_logprobs[at];
    const top = tops[at];
    return {
      token: String(token),
      logprob: typeof logprob === 'number' ? logprob : null,
      bytes: null,
      top_logprobs: isObject(top) ? Object.entries(top).flatMap(topLogprob) : [],
    };
  });
};

const topLogprob = ([token, logprob]: [string, unknown]) =>
  typeof logprob === 'number' ? [{ token, logprob, bytes: null }] : [];

const tokenLogprob = (value: unknown): Logprob['top_logprobs'][number] | undefined => {
  if (!isObject(value) || typeof value.token !== 'string' || typeof value.logprob !== 'number')
    return undefined;
  const bytes: unknown = value.bytes;
  const isBytes = Array.isArray(bytes) && bytes.every((byte) => count(byte) !== undefined);
  return { token: value.token, logprob: value.logprob, bytes: isBytes ? bytes : null };
};
