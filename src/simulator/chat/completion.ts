/** Plays one planned answer token by token, up to a stop sequence or the limit. */
import { type FinishReason, type Part, toJsonText } from '../../ports/engines/chat.ts';
import type { Random } from '../random.ts';
import { logprobOf } from './logprobs.ts';
import { StopFilter, type TextToken } from './stop-sequences.ts';

type Tokens = Iterator<string, undefined>;

export type Section =
  | { readonly type: 'reasoning' | 'text'; readonly tokens: Tokens }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly tokens: Tokens };

interface ChoicePlan {
  readonly choice: number;
  readonly sections: readonly Section[];
  readonly finish: FinishReason;
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly logprobs: { readonly top: number; readonly random: Random } | undefined;
}

export class SimulatedChoice {
  /** Tokens made so far, thinking included. */
  tokens = 0;
  reasoning = 0;

  readonly #plan: ChoicePlan;
  readonly #filter: StopFilter | undefined;
  #section = 0;
  #calls = 0;
  #calling = false;

  constructor(plan: ChoicePlan) {
    this.#plan = plan;
    this.#filter = plan.stop.length === 0 ? undefined : new StopFilter(plan.stop);
  }

  /** Makes one token and adds the parts it leads to, perhaps none; false when the answer ended instead. */
  step(parts: Part[]): boolean {
    for (;;) {
      const section = this.#plan.sections[this.#section];
      if (section === undefined) return this.#finish(parts, this.#plan.finish);
      const token = section.tokens.next().value;
      if (token === undefined) {
        this.#leave(parts);
        continue;
      }
      if (this.tokens >= this.#plan.maxTokens) return this.#finish(parts, 'length');
      this.tokens += 1;
      if (section.type === 'text') return this.#text(parts, token);
      if (section.type === 'call') this.#arguments(parts, section, token);
      else this.#thought(parts, token);
      return true;
    }
  }

  #leave(parts: Part[]): void {
    this.#flush(parts);
    this.#section += 1;
    this.#calling = false;
  }

  #text(parts: Part[], text: string): boolean {
    const { logprobs } = this.#plan;
    const token = { text, logprob: logprobs && logprobOf(text, logprobs.top, logprobs.random) };
    if (this.#filter === undefined) {
      this.#emit(parts, token);
      return true;
    }
    const certain: TextToken[] = [];
    const sequence = this.#filter.push(token, certain);
    for (const one of certain) this.#emit(parts, one);
    return sequence === undefined || this.#finish(parts, 'stop', sequence);
  }

  #emit(parts: Part[], { text, logprob }: TextToken): void {
    const { choice } = this.#plan;
    if (logprob === undefined) parts.push({ type: 'text', choice, text: toJsonText(text) });
    else parts.push({ type: 'text', choice, text: toJsonText(text), logprobs: [logprob] });
  }

  #thought(parts: Part[], token: string): void {
    this.reasoning += 1;
    parts.push({ type: 'reasoning', choice: this.#plan.choice, text: toJsonText(token) });
  }

  #arguments(parts: Part[], section: Section & { type: 'call' }, token: string): void {
    const { choice } = this.#plan;
    if (!this.#calling) {
      this.#calling = true;
      parts.push({ type: 'tool-call', choice, call: this.#calls, id: section.id, name: section.name });
      this.#calls += 1;
    }
    parts.push({ type: 'tool-arguments', choice, call: this.#calls - 1, text: toJsonText(token) });
  }

  #flush(parts: Part[]): void {
    const rest: TextToken[] = [];
    this.#filter?.flush(rest);
    for (const token of rest) this.#emit(parts, token);
  }

  #finish(parts: Part[], reason: FinishReason, stopSequence?: string): false {
    this.#flush(parts);
    const part = { type: 'finish', choice: this.#plan.choice, reason, native: reason } as const;
    parts.push(stopSequence === undefined ? part : { ...part, stopSequence });
    return false;
  }
}
