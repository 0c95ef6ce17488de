/** Counts the tokens of texts. */
import { SIMULATOR } from '../../schemas/simulator.ts';
import { loadVocabulary, pieceEnd } from './encoding.ts';
import { countTokens as countSimulated } from './simulator.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The number of tokens of all texts together. Runs for long on large texts: those belong on another thread. */
export const countTokens = (texts: readonly string[], tokenizer: string): number => {
  const count = tokenCounter(tokenizer);
  return texts.reduce((total, text) => total + count(text), 0);
};

/** What counts the tokens of one text after another. */
export const tokenCounter = (tokenizer: string): ((text: string) => number) => {
  // The simulator counts by a rule of its own: window and usage agree when the gateway counts the same way.
  if (tokenizer === SIMULATOR) return countSimulated;
  const vocabulary = loadVocabulary(tokenizer);
  return (text) => countText(vocabulary, text);
};

const countText = (vocabulary: Vocabulary, text: string): number => {
  let total = 0;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    total += vocabulary.countTokens(text.slice(start, end));
    start = end;
  }
  return total;
};
