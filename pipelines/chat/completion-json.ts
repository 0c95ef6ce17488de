/** JSON that the framings of the chat format share. */
import { quoted } from '../../src/helpers/quoted.ts';
import type { TokenUsage } from '../../src/ports/engines/chat.ts';
import type { Finish } from '../conversation/finishes.ts';

export interface Completion {
  /** Our own: letters, digits, dashes. */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  /** The operator's name as JSON. */
  readonly provider: string;
  /** Number of choices requested. */
  readonly choices: number;
  readonly logprobs: boolean;
  /** Usage comes in a chunk of its own. */
  readonly includeUsage: boolean;
  /** Further fields as JSON, each after a comma: at the end of a whole response, on the first chunk of a stream. */
  readonly extra?: string | undefined;
}

export const nativeJson = ({ native }: Finish): string => (native === null ? 'null' : quoted(native));

/** What most responses have in common. */
const noDetails =
  ',"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}';

export const usageJson = ({ prompt, completion, cached, reasoning }: TokenUsage): string => {
  const details =
    cached === 0 && reasoning === 0
      ? noDetails
      : `,"prompt_tokens_details":{"cached_tokens":${cached}},"completion_tokens_details":{"reasoning_tokens":${reasoning}}}`;
  return `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion}${details}`;
};
