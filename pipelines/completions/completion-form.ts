/** What the framings of a text completion share. */
import type { Finish } from '../conversation/finishes.ts';

export interface CompletionForm {
  /** The first fields as JSON, from the id to the provider. */
  readonly head: string;
  readonly choices: number;
  readonly logprobs: boolean;
  /** Usage comes in a chunk of its own. */
  readonly includeUsage: boolean;
  /** What a choice begins with, escaped. */
  echoed(choice: number): string;
}

/** This format knows no tools. */
export const finishReason = ({ reason }: Finish): string => (reason === 'tool_calls' ? 'stop' : reason);
