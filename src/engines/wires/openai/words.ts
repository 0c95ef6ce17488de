/** Maps finish reasons, usage, log-probabilities and errors of OpenAI-like servers to ours. */
import { type ApiError, type ErrorKind, fail, firstLine } from '../../../errors.ts';
import type { FinishReason, Logprob, Part, TokenUsage } from '../../../ports/chat.ts';
import { unreadable } from '../../json-picker.ts';

export type Json = Readonly<Record<string, unknown>>;

export type Finish = Extract<Part, { type: 'finish' }>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined for what is no JSON; JSON itself never is. */
export const tryParse = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

export const parseJson = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw unreadable(cause);
  }
};

export const parseObject = (json: string): Json => {
  const value = parseJson(json);
  if (!isObject(value)) throw unreadable(new Error('The answer is no object'));
  return value;
};

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

/** The failure an object carries: `{error: {…}}`, `{error: "…"}`, or vLLM's bare `{object: "error", …}`. */
export const reportedError = (value: Json): ApiError | undefined => {
  const error = value.error;
  if (isObject(error)) return errorOf(error, error.message, [error.code, error.type]);
  if (typeof error === 'string' && error !== '') return errorOf(value, error, [value.error_type]);
  if (value.object === 'error') return errorOf(value, value.message, [value.code, value.type]);
  return undefined;
};

/** The first known code counts. */
const errorOf = (cause: unknown, message: unknown, codes: readonly unknown[]): ApiError => {
  const [kind = 'engine_unreachable'] = codes.flatMap((code) => kindOf(code) ?? []);
  const words = typeof message === 'string' ? firstLine(message) : '';
  return fail(kind, words === '' ? 'The engine reported an error' : words, { cause, param: null });
};

const kindOf = (code: unknown): ErrorKind | undefined =>
  typeof code === 'string' || typeof code === 'number' ? kinds.get(String(code).toLowerCase()) : undefined;

/** Statuses, as numbers or text, and the names that servers have for them. */
const kinds: ReadonlyMap<string, ErrorKind> = new Map([
  ['400', 'invalid_request'],
  ['413', 'invalid_request'],
  ['422', 'invalid_request'],
  ['validation', 'invalid_request'],
  ['badrequesterror', 'invalid_request'],
  ['invalid_request_error', 'invalid_request'],
  ['context_length_exceeded', 'invalid_request'],
  ['429', 'unavailable'],
  ['503', 'unavailable'],
  ['529', 'unavailable'],
  ['overloaded', 'unavailable'],
  ['overloaded_error', 'unavailable'],
  ['rate_limit_error', 'unavailable'],
  ['rate_limit_exceeded', 'unavailable'],
  ['504', 'timeout'],
  ['timeout_error', 'timeout'],
]);

/** The message inside an error response of any status, for the client; undefined when there is none. */
export const errorMessage = (body: string): string | undefined => {
  const value = tryParse(body);
  if (!isObject(value)) return undefined;
  const error = isObject(value.error) ? value.error.message : value.error;
  const detail = Array.isArray(value.detail) ? value.detail[0] : value.detail;
  const message = [error, value.message, isObject(detail) ? detail.msg : detail].find(
    (candidate) => typeof candidate === 'string' && candidate.trim() !== '',
  );
  return typeof message === 'string' ? firstLine(message) : undefined;
};
