/** Counts the tokens of a conversation, and ends its parts with one `usage` part. */
import type { Observer } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { fail } from '../../src/errors.ts';
import type { LeaseUsage } from '../../src/ports/admission.ts';
import type { TextPart, TokenUsage } from '../../src/ports/chat.ts';
import { estimatePiece, estimatePrompt } from '../../src/tokens/prompt.ts';
import { type Account, type Billed, noTokens, type Outcome, usageEvent } from '../core/account.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import type { ChatTask, CompletionTask } from './chat-task.ts';
import { withoutReasoning } from './hide-reasoning.ts';
import type { SettledPart, SettledParts } from './settle.ts';

/** Characters of one response; an engine that generates more does not stop by itself. */
const mostCharacters = 64 * 1024 * 1024;

interface Counted {
  readonly account: TokenAccount;
  readonly task: Pick<CountedTask, 'hidesReasoning'>;
}

/** Reasoning that the client does not want is counted, and goes no further. */
export const countTokens: Transform<SettledParts, SettledParts, Counted> = transform(
  (next, { account, task }) => new TokenCounter(task.hidesReasoning ? withoutReasoning(next) : next, account),
);

class TokenCounter extends Forwarder<SettledParts, SettledParts> {
  readonly #account: TokenAccount;

  constructor(receiver: Observer<SettledParts>, account: TokenAccount) {
    super(receiver);
    this.#account = account;
  }

  next(parts: SettledParts): void {
    const reported = this.#account.add(parts);
    const rest = reported ? parts.filter(isContent) : parts;
    if (rest.length > 0) this.receiver.next(rest);
    if (this.#account.characters > mostCharacters) throw fail('engine_unreachable', 'The model did not stop');
  }

  override complete(): void {
    this.receiver.next([{ type: 'usage', usage: this.#account.usage() }]);
    this.receiver.complete();
  }
}

const isContent = ({ type }: SettledPart): boolean => type !== 'usage';

type CountedTask = ChatTask<unknown> | CompletionTask<unknown>;

/** `route` is the path below `/v1`. */
export const tokenAccount =
  (route: string) =>
  (billed: Billed<CountedTask>): TokenAccount =>
    new TokenAccount(route, billed);

export class TokenAccount implements Account<SettledParts> {
  readonly #route: string;
  readonly #billed: Billed<CountedTask>;
  readonly #started = performance.now();
  #firstToken: number | undefined;
  #completion = 0;
  #reasoning = 0;
  /** Text that came as bytes: its characters are counted only if the engine has not counted tokens. */
  #uncounted: TextPart[] | undefined;
  /** All text that was counted so far, as JSON has it. */
  characters = 0;
  /** The engine's own numbers; the last ones count. */
  #reported: TokenUsage | undefined;

  constructor(route: string, billed: Billed<CountedTask>) {
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
        this.#reported = part.usage;
      } else this.#addContent(part);
    }
    return reported;
  }

  #addContent(part: SettledPart): void {
    switch (part.type) {
      case 'text':
        if (part.bytes === undefined) this.#count(part);
        else if (this.#uncounted === undefined) this.#uncounted = [part];
        else this.#uncounted.push(part);
        break;
      case 'reasoning': {
        const tokens = estimatePiece(part.text.length);
        this.#completion += tokens;
        this.#reasoning += tokens;
        this.characters += part.text.length;
        break;
      }
      case 'tool-arguments':
        this.#completion += estimatePiece(part.text.length);
        this.characters += part.text.length;
    }
  }

  #count({ text, logprobs }: TextPart): void {
    this.#completion += logprobs?.length ?? estimatePiece(text.length);
    this.characters += text.length;
  }

  tokens(): LeaseUsage | undefined {
    return this.#firstToken === undefined ? undefined : this.usage();
  }

  /** The engine's numbers, else what was seen. */
  usage(): TokenUsage {
    const reported = this.#reported;
    // Reasoning that was seen and not reported: the engine does not tell it apart.
    if (reported !== undefined && (reported.reasoning > 0 || this.#reasoning === 0)) return reported;
    for (const part of this.#uncounted ?? []) this.#count(part);
    this.#uncounted = undefined;
    if (reported !== undefined) return { ...reported, reasoning: this.#reasoningOf(reported.completion) };
    const { promptTokens, call } = this.#billed.task;
    return {
      prompt: promptTokens ?? estimatePrompt(call),
      completion: this.#completion,
      cached: 0,
      reasoning: this.#reasoning,
    };
  }

  /** The part of so many tokens that reasoning has in what was seen. */
  #reasoningOf(completion: number): number {
    return Math.min(completion, Math.round((completion * this.#reasoning) / this.#completion));
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
