/** Truncates texts to a number of tokens. */
import { SIMULATOR } from '../../schemas/simulator.ts';
import { loadVocabulary, pieceEnd } from './encoding.ts';
import { tokensEnd } from './simulator.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Runs for long on large texts: those belong on another thread. */
export const cutTokens = (texts: readonly string[], tokenizer: string, limit: number): readonly string[] => {
  if (tokenizer === SIMULATOR) return texts.map((text) => text.slice(0, tokensEnd(text, limit)));
  const vocabulary = loadVocabulary(tokenizer);
  return texts.map((text) => cutText(vocabulary, text, limit));
};

const cutText = (vocabulary: Vocabulary, text: string, limit: number): string => {
  let left = limit;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    const tokens = vocabulary.encode(text.slice(start, end));
    if (tokens.length > left) return text.slice(0, start) + whole(vocabulary.decode(tokens.slice(0, left)));
    left -= tokens.length;
    start = end;
  }
  return text;
};

/** A character that the cut went through shows as a replacement mark. */
const whole = (text: string): string => text.replace(/\ufffd+$/, '');
