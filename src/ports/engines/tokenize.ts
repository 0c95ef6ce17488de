/** Calls to the tokenizer of a model, independent of any engine. */
import type { ChatMessage, Tool } from './chat.ts';

export interface TokenizeCall {
  readonly input: string | TokenizedChat;
  /** Undefined: as the engine does by itself. */
  readonly addSpecialTokens: boolean | undefined;
  /** The text of each token is wanted. */
  readonly withTexts: boolean;
}

/** A conversation, which the model's chat template makes a text of. */
export interface TokenizedChat {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** With what stands before the response. */
  readonly addGenerationPrompt: boolean;
}

export interface Tokenized {
  readonly tokens: readonly number[];
  /** Undefined unless they were wanted. */
  readonly texts: readonly string[] | undefined;
  /** Tokens that the model reads, where the engine says. */
  readonly maxLength: number | undefined;
}

export interface DetokenizeCall {
  readonly tokens: readonly number[];
}
