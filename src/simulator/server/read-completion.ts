/** Reads text completion requests independently of the gateway's own parsing, as a foreign engine would. */
import { fail } from '../../errors.ts';
import { isObject } from '../../helpers/json-schema.ts';
import type { CompletionCall, TextPrompt } from '../../ports/engines/completion.ts';
import {
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalObject,
  optionalString,
  required,
} from './fields.ts';
import { readStop } from './read-request.ts';

export interface CompletionRequest {
  readonly model: string;
  readonly call: CompletionCall;
  readonly includeUsage: boolean;
}

const defaultMaxTokens = 16;

export function readCompletion(value: unknown): CompletionRequest {
  if (!isObject(value)) throw fail('invalid_request', 'The body must be a JSON object');
  const options = optionalObject(value.stream_options, 'stream_options');
  const top = optionalCount(value.logprobs, 'logprobs', 0);
  const seed = optionalNumber(value.seed, 'seed');
  return {
    model: required(optionalString(value.model, 'model'), 'model'),
    call: {
      prompts: readPrompts(value.prompt),
      stream: optionalBoolean(value.stream, 'stream') ?? false,
      maxTokens: optionalCount(value.max_tokens, 'max_tokens', 0) ?? defaultMaxTokens,
      n: optionalCount(value.n, 'n', 1) ?? 1,
      sampling: seed === undefined ? {} : { seed },
      stop: readStop(value.stop),
      logprobs: top === undefined ? undefined : { top },
      echo: optionalBoolean(value.echo, 'echo') ?? false,
      user: undefined,
    },
    includeUsage: optionalBoolean(options?.include_usage, 'stream_options.include_usage') ?? false,
  };
}

/** One or several, each a text or token ids. */
const readPrompts = (value: unknown): readonly TextPrompt[] => {
  if (isPrompt(value)) return [value];
  if (Array.isArray(value) && value.length > 0 && value.every(isPrompt)) return value;
  throw fail('invalid_request', 'prompt must be a text, token ids or a list of them');
};

const isPrompt = (value: unknown): value is TextPrompt =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === 'number'));
