/** Counts the tokens of texts. */
import { SIMULATOR } from '../../schemas/engines.ts';
import { asPlainText, type Encoding, loadEncoding, pieceEnd } from './encoding.ts';
import { countTokens as countSimulated } from './simulator.ts';

/** The number of tokens of all texts together. Runs for long on large texts: those belong on another thread. */
export const countTokens = async (texts: readonly string[], tokenizer: string): Promise<number> => {
  const count = await tokenCounter(tokenizer);
  return texts.reduce((total, text) => total + count(text), 0);
};

/** What counts the tokens of one text after another. */
export const tokenCounter = async (tokenizer: string): Promise<(text: string) => number> => {
  // The simulator counts by a rule of its own: window and usage agree when the gateway counts the same way.
  if (tokenizer === SIMULATOR) return countSimulated;
  const encoding = await loadEncoding(tokenizer);
  return (text) => countText(encoding, text);
};

const countText = (encoding: Encoding, text: string): number => {
  let total = 0;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    total += encoding.countTokens(text.slice(start, end), asPlainText);
    start = end;
  }
  return total;
};
