/** Texts and a tokenizer's name in, the number of their tokens out. The vocabularies load on first use: small prompts never need them. */

import { SIMULATOR } from '../../schemas/engines.ts';
import { countTokens as countSimulated } from '../engines/simulator/tokens.ts';

interface Encoding {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
}

/** Whatever looks like a special token in a prompt is text like any other. */
const asPlainText = { disallowedSpecial: new Set<string>() };

/** Merging one word costs the square of its length; a run of characters without a break is counted in pieces of this size. */
const longestRun = 128;

/** The number of tokens of all texts together. Runs for long on large texts: those belong on another thread. */
export const countTokens = async (texts: readonly string[], tokenizer: string): Promise<number> => {
  // The simulator counts by a rule of its own: window and usage agree when the gateway counts the same way.
  if (tokenizer === SIMULATOR) return texts.reduce((total, text) => total + countSimulated(text), 0);
  const encoding = await load(tokenizer);
  return texts.reduce((total, text) => total + countText(encoding, text), 0);
};

/** Vocabularies we do not carry are nearest to cl100k, which most open ones were grown from. */
const load = (tokenizer: string): Promise<Encoding> =>
  /o200k|gpt/i.test(tokenizer)
    ? import('gpt-tokenizer/encoding/o200k_base')
    : import('gpt-tokenizer/encoding/cl100k_base');

const countText = (encoding: Encoding, text: string): number => {
  let total = 0;
  let start = 0;
  let run = 0;
  let inSpace = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const space = code <= 32;
    if (space !== inSpace) {
      inSpace = space;
      run = at;
    } else if (at - run >= longestRun && !isLowSurrogate(code)) {
      total += encoding.countTokens(text.slice(start, at), asPlainText);
      start = at;
      run = at;
    }
  }
  return total + encoding.countTokens(text.slice(start), asPlainText);
};

const isLowSurrogate = (code: number): boolean => (code & 0xfc00) === 0xdc00;
