/** Adds up the token counts of a message: some come with its first event, some with its last. */
import type { TokenUsage } from '../../../ports/engines/chat.ts';
import { isObject } from '../shared/json.ts';

export class MessageUsage {
  #input: number | undefined;
  #cacheRead = 0;
  #cacheWritten = 0;
  #output: number | undefined;
  #thinking = 0;

  /** Later counts replace earlier ones. `isLast`, as in a whole message: the output is counted to its end. */
  add(value: unknown, isLast = false): void {
    if (!isObject(value)) return;
    this.#input = count(value.input_tokens) ?? this.#input;
    this.#cacheRead = count(value.cache_read_input_tokens) ?? this.#cacheRead;
    this.#cacheWritten = count(value.cache_creation_input_tokens) ?? this.#cacheWritten;
    if (isLast) this.#output = count(value.output_tokens) ?? this.#output;
    const details = value.output_tokens_details;
    if (isObject(details)) this.#thinking = count(details.thinking_tokens) ?? this.#thinking;
  }

  /** Undefined where the server has not counted: some then write zeros. */
  tokens(): TokenUsage | undefined {
    // In this format the input is what neither came from a cache nor went to one.
    const prompt = (this.#input ?? 0) + this.#cacheRead + this.#cacheWritten;
    if (this.#output === undefined || prompt === 0) return undefined;
    return {
      prompt,
      completion: this.#output,
      cached: this.#cacheRead,
      reasoning: Math.min(this.#thinking, this.#output),
    };
  }
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
