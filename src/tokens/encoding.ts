/** Loads vocabularies on first use, and splits long texts for them. */
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { Vocabulary } from './vocabulary.ts';

const vocabularies = {
  cl100k_base: CL100K_TOKEN_SPLIT_REGEX,
  o200k_base: O200K_TOKEN_SPLIT_REGEX,
} as const;

const loaded = new Map<keyof typeof vocabularies, Vocabulary>();

/** Vocabularies we do not carry are nearest to cl100k, which most open ones were grown from. */
export const loadVocabulary = (tokenizer: string): Vocabulary => {
  const name = /o200k|gpt/i.test(tokenizer) ? 'o200k_base' : 'cl100k_base';
  const vocabulary = loaded.get(name) ?? readVocabulary(name);
  loaded.set(name, vocabulary);
  return vocabulary;
};

/** The library's own tables take 36 MB. */
const readVocabulary = (name: keyof typeof vocabularies): Vocabulary =>
  new Vocabulary(new URL(import.meta.resolve(`gpt-tokenizer/data/${name}.tiktoken`)), vocabularies[name]);

/** Merging one word costs the square of its length; a run of characters without a break is encoded in pieces of this size. */
const longestRun = 128;
/** Longer pieces end with their last word. */
const pieceLength = 1024;

/** Where the piece that starts at `start` ends: together they have the tokens of the text, or as good as. */
export const pieceEnd = (text: string, start: number): number => {
  // The last place where vocabularies split as well: before a blank, or before a mark of a script without blanks.
  let safe = start;
  let before = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (at > start && (code <= 32 ? before > 32 : isMark(code) && isIdeograph(before))) {
      if (at - start >= pieceLength) return at;
      safe = at;
    } else if (at - safe >= longestRun && !isLowSurrogate(code)) return safe > start ? safe : at;
    before = code;
  }
  return text.length;
};

const isMark = (code: number): boolean =>
  (code >= 0x3000 && code <= 0x303f) || (code >= 0xff01 && code <= 0xff1f);
const isIdeograph = (code: number): boolean => code >= 0x3040 && code < 0xd800;
const isLowSurrogate = (code: number): boolean => (code & 0xfc00) === 0xdc00;
