/** Writes log-probabilities as the lists of a text completion. */
import type { Logprob } from '../../src/ports/engines/chat.ts';

/** `offset` is where the first of them begins in its text, in characters. */
export const logprobsJson = (logprobs: readonly Logprob[], offset: number): string => {
  let at = offset;
  return JSON.stringify({
    tokens: logprobs.map(({ token }) => token),
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: logprobs.map(topOf),
    text_offset: logprobs.map(({ token }) => {
      const start = at;
      at += charactersOf(token);
      return start;
    }),
  });
};

export const lengthOf = (logprobs: readonly Logprob[]): number =>
  logprobs.reduce((total, { token }) => total + charactersOf(token), 0);

const topOf = ({ logprob, top_logprobs }: Logprob): Readonly<Record<string, number>> | null =>
  logprob === null ? null : Object.fromEntries(top_logprobs.map((top) => [top.token, top.logprob]));

/** Unicode characters, not UTF-16 units. */
const charactersOf = (text: string): number => [...text].length;
