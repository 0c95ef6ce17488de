/** Truncates texts to a number of tokens. */
import { SIMULATOR } from '../../schemas/engines.ts';
import { asPlainText, type Encoding, loadEncoding, pieceEnd } from './encoding.ts';
import { tokensEnd } from './simulator.ts';

/** Runs for long on large texts: those belong on another thread. */
export const cutTokens = async (
  texts: readonly string[],
  tokenizer: string,
  limit: number,
): Promise<readonly string[]> => {
  if (tokenizer === SIMULATOR) return texts.map((text) => text.slice(0, tokensEnd(text, limit)));
  const encoding = await loadEncoding(tokenizer);
  return texts.map((text) => cutText(encoding, text, limit));
};

const cutText = (encoding: Encoding, text: string, limit: number): string => {
  let left = limit;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    const tokens = encoding.encode(text.slice(start, end), asPlainText);
    if (tokens.length > left) return text.slice(0, start) + whole(encoding.decode(tokens.slice(0, left)));
    left -= tokens.length;
    start = end;
  }
  return text;
};

/** A character that the cut went through shows as a replacement mark. */
const whole = (text: string): string => text.replace(/\ufffd+$/, '');
