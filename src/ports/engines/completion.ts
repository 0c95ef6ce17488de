/** A text completion: texts or token ids in, parts as those of a chat out. */
import type { Forwarded, Sampling } from './chat.ts';

export interface CompletionCall {
  readonly prompts: readonly TextPrompt[];
  readonly stream: boolean;
  /** Effective limit of each completion, already cut to the context window. */
  readonly maxTokens: number;
  /** Completions of each prompt. Those of the first come first: `choice` counts them through. */
  readonly n: number;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  readonly logprobs: { readonly top: number } | undefined;
  /** Each completion begins with its prompt, log-probabilities included. */
  readonly echo: boolean;
  /** Opaque id of the end user, if the client gave one. */
  readonly user: string | undefined;
  /** Fields that only the engine knows, as the client sent them. */
  readonly forwarded?: Forwarded | undefined;
}

/** A text, or its token ids. */
export type TextPrompt = string | readonly number[];
