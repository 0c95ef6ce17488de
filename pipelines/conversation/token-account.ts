/** Accounts for the tokens of a conversation: the engine's numbers, else what was delivered, counted at the end. */
import { forkJoin, ignoreElements, map, type Observable, of, tap } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { LeaseUsage } from '../../src/ports/admission.ts';
import type { TextPart, TokenUsage } from '../../src/ports/engines/chat.ts';
import type { Generated, TokenCounts } from '../../src/ports/engines/token-counts.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { MostUsed } from '../../src/ports/quotas.ts';
import { DeliveredText } from '../../src/tokens/delivered-text.ts';
import {
  estimatePrompt,
  fixedTokens,
  mediaTokens,
  promptTexts,
  templateTokens,
} from '../../src/tokens/prompt.ts';
import { type Account, type Billed, noTokens, type Outcome, usageEvent } from '../core/account.ts';
import type { ChatTask, CompletionTask } from './chat-task.ts';
import { mostOfConversation } from './most-tokens.ts';
import type { SettledPart, SettledParts } from './settle.ts';

export type CountedTask = ChatTask<unknown> | CompletionTask<unknown>;

/** `route` is the path below `/v1`. */
export const tokenAccount =
  ({ tokenCounts }: Pick<Ports, 'tokenCounts'>, route: string) =>
  (billed: Billed<CountedTask>): TokenAccount =>
    new TokenAccount(tokenCounts, route, billed);

export class TokenAccount implements Account<SettledParts> {
  readonly #counts: TokenCounts;
  readonly #route: string;
  readonly #billed: Billed<CountedTask>;
  readonly #started = performance.now();
  #firstToken: number | undefined;
  /** Text and tool calls of each choice, and its reasoning. */
  #answers: DeliveredText[] = [];
  #thoughts: DeliveredText[] = [];
  /** Of text that came with its log-probabilities: one for each token. */
  #logprobs = 0;
  #callsTools = false;
  /** Text that came as bytes: decoded only if the engine has not counted tokens. */
  #whole: TextPart[] | undefined;
  /** All text so far, as JSON has it. */
  characters = 0;
  /** What the engine says it has generated so far; the texts are those since, these estimates of those before. */
  #soFar: TokenUsage | undefined;
  #earlierAnswers = 0;
  #earlierThoughts = 0;
  /** The engine's own numbers at the end, or ours. */
  #final: TokenUsage | undefined;

  constructor(counts: TokenCounts, route: string, billed: Billed<CountedTask>) {
    this.#counts = counts;
    this.#route = route;
    this.#billed = billed;
  }

  /** True when the engine's own numbers were among the parts. */
  add(parts: SettledParts): boolean {
    this.#firstToken ??= performance.now();
    let reported = false;
    for (const part of parts) {
      if (part.type === 'usage') {
        reported = true;
        if (part.soFar === true) this.#restartFrom(part.usage);
        else this.#final = part.usage;
      } else this.#addContent(part);
    }
    return reported;
  }

  /** Costs as little as it can for every piece: most engines count by themselves in the end. */
  #addContent(part: SettledPart): void {
    switch (part.type) {
      case 'text':
        if (part.bytes !== undefined) {
          this.#whole ??= [];
          this.#whole.push(part);
        } else this.#addText(part);
        break;
      case 'reasoning':
        this.characters += part.text.length;
        textOf(this.#thoughts, part.choice).add(part.text);
        break;
      case 'tool-arguments':
        this.characters += part.text.length;
        this.#callsTools = true;
        textOf(this.#answers, part.choice).add(part.text);
    }
  }

  #addText({ choice, text, logprobs }: TextPart): void {
    this.characters += text.length;
    if (logprobs === undefined) textOf(this.#answers, choice).add(text);
    else this.#logprobs += logprobs.length;
  }

  #restartFrom(usage: TokenUsage): void {
    this.#soFar = usage;
    this.#earlierAnswers += this.#logprobs + estimateOf(this.#answers);
    this.#earlierThoughts += estimateOf(this.#thoughts);
    this.#answers = [];
    this.#thoughts = [];
    this.#logprobs = 0;
  }

  most(): MostUsed {
    return mostOfConversation(this.#billed.task);
  }

  countPrompt(): Observable<number> | undefined {
    if (mediaTokens(this.#billed.task.call) > 0) return undefined;
    return this.#promptTokens().pipe(map((tokens) => tokens + templateTokens));
  }

  get firstTokenAt(): number | undefined {
    return this.#firstToken;
  }

  tokens(): LeaseUsage | undefined {
    return this.#firstToken === undefined ? undefined : this.usage();
  }

  /** The engine's numbers, else ours once they are counted, else an estimate. */
  usage(): TokenUsage {
    const final = this.#final;
    if (final !== undefined) return this.#withReasoning(final);
    const { promptTokens, call } = this.#billed.task;
    const [answers, thoughts] = [this.#logprobs + estimateOf(this.#answers), estimateOf(this.#thoughts)];
    return this.#total(promptTokens ?? estimatePrompt(call), answers, thoughts);
  }

  /** Reasoning that was seen and not reported: the engine does not tell it apart. */
  #withReasoning(usage: TokenUsage): TokenUsage {
    const thoughts = this.#earlierThoughts + estimateOf(this.#thoughts);
    if (usage.reasoning > 0 || thoughts === 0) return usage;
    this.#decodeWhole();
    const answers = this.#earlierAnswers + this.#logprobs + estimateOf(this.#answers);
    const share = thoughts / (thoughts + answers);
    return { ...usage, reasoning: Math.min(usage.completion, Math.round(usage.completion * share)) };
  }

  #total(prompt: number, answers: number, thoughts: number): TokenUsage {
    const { prompt: said = prompt, completion = 0, cached = 0, reasoning = 0 } = this.#soFar ?? {};
    return {
      prompt: said,
      completion: Math.min(completion + answers + thoughts, this.#limit()),
      cached,
      reasoning: reasoning + thoughts,
    };
  }

  /** No engine generates more. */
  #limit(): number {
    const { call } = this.#billed.task;
    const choices = call.n * ('prompts' in call ? call.prompts.length : 1);
    return call.maxTokens * choices;
  }

  /** Emits nothing and completes once what the engine did not count is counted; undefined where that is known already. */
  counted(): Observable<never> | undefined {
    if (this.#final !== undefined || this.#firstToken === undefined) return undefined;
    this.#decodeWhole();
    const { model } = this.#billed.task;
    return forkJoin([
      this.#promptTokens(),
      this.#counts.count(model, generatedOf(this.#answers)),
      this.#counts.count(model, generatedOf(this.#thoughts)),
    ]).pipe(
      tap(([prompt, answers, thoughts]) => {
        this.#final ??= this.#total(prompt, this.#logprobs + answers, thoughts);
      }),
      ignoreElements(),
    );
  }

  #promptTokens(): Observable<number> {
    const { model, promptTokens, call } = this.#billed.task;
    if (this.#soFar !== undefined) return of(this.#soFar.prompt);
    if (promptTokens !== undefined) return of(promptTokens);
    return this.#counts
      .countTexts(model, promptTexts(call))
      .pipe(map((tokens) => tokens + fixedTokens(call)));
  }

  #decodeWhole(): void {
    for (const part of this.#whole ?? []) this.#addText(part);
    this.#whole = undefined;
  }

  /** What a stream that its engine has counted teaches about the model's tokens. */
  learn(): void {
    const { model, call } = this.#billed.task;
    const final = this.#final;
    const isPlain = call.stream && call.n === 1 && this.#logprobs === 0 && !this.#callsTools;
    if (final === undefined || !isPlain || this.#soFar !== undefined || !this.#counts.learns(model)) return;
    const generated = generatedOf([...this.#answers, ...this.#thoughts]);
    if (generated.scale === 1) this.#counts.learn(model, generated, final.completion);
  }

  /**
   * Failures cost nothing. A client that leaves pays for what was generated by then, prompt included, once there was
   * anything. What was handed to the edge counts as delivered: at most its buffer is not.
   */
  event(outcome: Outcome, status: number): UsageEvent {
    const tokens = this.#firstToken === undefined ? noTokens : this.usage();
    const { stream } = this.#billed.task.call;
    return usageEvent(this.#route, this.#billed, outcome, status, {
      tokens,
      delivered: stream || outcome === 'completed' ? tokens.completion : 0,
      started: this.#started,
      firstToken: this.#firstToken,
    });
  }
}

const textOf = (texts: DeliveredText[], choice: number): DeliveredText => {
  const known = texts[choice];
  if (known !== undefined) return known;
  const text = new DeliveredText();
  texts[choice] = text;
  return text;
};

const estimateOf = (texts: readonly DeliveredText[]): number =>
  texts.reduce((sum, { estimate }) => sum + estimate, 0);

const generatedOf = (delivered: readonly DeliveredText[]): Generated => {
  const taken = delivered.filter((text) => text !== undefined).map((text) => text.take());
  const kept = taken.reduce((sum, { characters }) => sum + characters, 0);
  const all = delivered.reduce((sum, { characters }) => sum + characters, 0);
  return {
    texts: taken.map(({ text }) => text),
    scale: kept === 0 ? 1 : all / kept,
    pieces: delivered.reduce((sum, { pieces }) => sum + pieces, 0),
  };
};
