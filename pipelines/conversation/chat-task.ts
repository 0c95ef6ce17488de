/** A chat request on its way to an engine, whatever format it has. */
import type { Model } from '../../schemas/catalog.ts';
import type { AnswerFormat, ChatCall, Effort, Thinking, Tool } from '../../src/ports/engines/chat.ts';
import type { CompletionCall } from '../../src/ports/engines/completion.ts';
import type { Rereadable } from '../core/fallbacks.ts';
import type { ResumableDraft } from '../core/resumable.ts';
import type { PendingMedia } from './media-parts.ts';

/** What the reader of a format makes of a request. */
export interface ChatDraft<Framing> extends Rereadable<ChatDraft<Framing>>, ResumableDraft {
  readonly model: Model;
  /** `:express` was requested: a thinking budget is derived where the model supports one. */
  readonly express: boolean;
  /** Its messages and tools fill the window. */
  readonly call: DraftCall;
  /** The field of the prompt, named in errors. */
  readonly promptField: string;
  /** Completion limit that the client requested. */
  readonly limit: number | undefined;
  readonly thinking: ThinkingSettings;
  /** True: reasoning takes place and is billed, but the client is not sent it. */
  readonly hidesReasoning?: boolean;
  /** Media and documents that are still to be loaded into the call. */
  readonly pending: readonly PendingMedia[];
  /** Bytes of the request that hold all its text; undefined when fetched or converted media may hold more. */
  readonly textBytes: number | undefined;
  /** What framing needs to know of the request. */
  readonly framing: Framing;
}

/** A call whose limits are resolved when all of its prompt is known. */
interface DraftCall extends Omit<ChatCall, 'maxTokens' | 'thinking'> {
  maxTokens: number;
  thinking: Thinking;
}

/** A text completion on its way to an engine. */
export type CompletionTask<Framing> = ChatTask<Framing, CompletionCall>;

/** Placeholders until then. */
export const unresolvedTokens = 0;
export const unresolvedThinking: Thinking = { effort: undefined, budget: undefined };

export interface ThinkingSettings {
  /** Sent to the engine; undefined leaves it at its default. */
  readonly effort: Effort | undefined;
  /** False: no thinking takes place, and budgets are ignored. */
  readonly active: boolean;
  readonly budget: number | undefined;
  /** The field of the budget, named in errors. */
  readonly budgetField: string;
}

/** A draft whose media is loaded and whose limits are resolved: ready to be called. */
export interface ChatTask<Framing, Call = ChatCall> {
  readonly model: Model;
  readonly call: Call;
  /** Completion limit that the client requested: a fallback may allow more of it than the model does. */
  readonly limit?: number | undefined;
  /** Exact size of the prompt, where it had to be counted. */
  readonly promptTokens: number | undefined;
  readonly hidesReasoning: boolean;
  readonly framing: Framing;
}

/** What most calls leave out, allocated once. */
export const noStop: readonly string[] = [];
export const noTools: readonly Tool[] = [];
export const plainText: AnswerFormat = { type: 'text' };
