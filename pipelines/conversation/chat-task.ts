/** A chat request on its way to an engine, whatever dialect it came in and goes back out in. */
import type { Model } from '../../schemas/catalog.ts';
import type { ChatCall, Effort, Thinking } from '../../src/ports/chat.ts';

/** What a dialect's reader makes of a request. */
export interface ChatDraft<Framing> {
  readonly model: Model;
  /** `:express` was asked for: a thinking budget is derived where the model can keep one. */
  readonly express: boolean;
  /** Its messages and tools fill the window. */
  readonly call: DraftCall;
  /** The prompt's field in this dialect, named in errors. */
  readonly promptField: string;
  /** Completion limit the client asked for. */
  readonly limit: number | undefined;
  readonly thinking: ThinkingWish;
  /** Bytes of the request that hold all its text; undefined when fetched or converted media may hold more. */
  readonly textBytes: number | undefined;
  /** What the dialect's framer must know of the request. */
  readonly framing: Framing;
}

/** A call whose limits are settled when all of it is known. */
export interface DraftCall extends Omit<ChatCall, 'maxTokens' | 'thinking'> {
  maxTokens: number;
  thinking: Thinking;
}

/** What its limits are until then. */
export const unsettledTokens = 0;
export const unsettledThinking: Thinking = { effort: undefined, budget: undefined };

export interface ThinkingWish {
  /** Said to the engine; undefined leaves it at its default. */
  readonly effort: Effort | undefined;
  /** False: no thinking takes place, and budgets are ignored. */
  readonly active: boolean;
  readonly budget: number | undefined;
  /** The budget's field in this dialect, named in errors. */
  readonly budgetField: string;
}

/** A draft whose limits are settled: ready to be admitted and called. */
export interface ChatTask<Framing> {
  readonly model: Model;
  readonly call: ChatCall;
  /** Exact size of the prompt, where it had to be counted. */
  readonly promptTokens: number | undefined;
  readonly framing: Framing;
}
