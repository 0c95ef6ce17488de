/** Makes up plausible log-probabilities for a token and its alternatives. */
import type { Logprob } from '../../ports/engines/chat.ts';
import type { Random } from '../random.ts';
import { noun } from './prose.ts';

export function logprobOf(token: string, top: number, random: Random): Logprob {
  const chosen = 0.5 + 0.49 * random.fraction();
  const own = entry(token, chosen);
  if (top === 0) return { ...own, top_logprobs: [] };
  const rivals = [own];
  const seen = new Set([token]);
  // What is left over is shared out by halves, so that the probabilities never add up to more than one.
  let left = (1 - chosen) / 2;
  while (rivals.length < top) {
    const word = ` ${noun(random)}`;
    const rival = seen.has(word) ? `${word}${rivals.length}` : word;
    seen.add(rival);
    rivals.push(entry(rival, left));
    left /= 2;
  }
  return { ...own, top_logprobs: rivals };
}

/** The part of a token that is left when a stop sequence cuts it. */
export const cutLogprob = (logprob: Logprob, token: string): Logprob => ({
  ...logprob,
  token,
  bytes: bytesOf(token),
});

function entry(token: string, probability: number): { token: string; logprob: number; bytes: number[] } {
  return { token, logprob: Math.round(Math.log(probability) * 1e6) / 1e6, bytes: bytesOf(token) };
}

function bytesOf(token: string): number[] {
  return [...Buffer.from(token, 'utf8')];
}
