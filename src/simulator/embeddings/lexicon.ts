/** Splits a text into weighted words and word pieces. */
import { hashText } from '../random.ts';

/** Words without a subject of their own: they hardly count. */
const stopWords = new Set(
  'a about above after again all also am an and any are as at be because been before being below between both but by can could did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just like may me might more most must my no nor not now of off on once only or other our out over own please same shall she should so some such than that the their them then there these they this those through to too under until up upon us very was we were what when where which while who whom why will with would you your'.split(
    ' ',
  ),
);
const stopWeight = 0.05;
/** What its pieces add to a word: enough to relate "tide" and "tidal", not enough to equate them. */
const pieceWeight = 0.6;
const pieceLength = 3;
const pieceSeed = 17;
/** Longer words are read up to here. */
const longestWord = 48;

/** Called with every feature of a text: a hash and a weight. */
type FeatureSink = (hash: number, weight: number) => void;

const words = /[\p{L}\p{N}]+/gu;

/** A word that comes again says less each time. */
export function readFeatures(text: string, sink: FeatureSink): void {
  const seen = new Map<string, number>();
  for (const word of wordsOf(text)) seen.set(word, (seen.get(word) ?? 0) + 1);
  for (const [word, count] of seen) readWord(word, 1 + Math.log(count), sink);
}

/** The stems of the words that have a subject, in their order and as often as they come. */
export const tellingStems = (text: string): readonly string[] =>
  wordsOf(text)
    .filter((word) => !stopWords.has(word))
    .map(stemOf);

/** Scripts without spaces give long words, which are related by their pieces. */
function readWord(word: string, count: number, sink: FeatureSink): void {
  const weight = count * (stopWords.has(word) ? stopWeight : 1);
  sink(hashText(stemOf(word)), weight);
  const bounded = `<${word}>`;
  const pieces = bounded.length - pieceLength + 1;
  const share = (weight * pieceWeight) / Math.sqrt(pieces);
  for (let at = 0; at < pieces; at++) sink(hashText(bounded.slice(at, at + pieceLength), pieceSeed), share);
}

/** Case, accents and the usual endings make no other word. */
const wordsOf = (text: string): readonly string[] =>
  (
    text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}+/gu, '')
      .match(words) ?? []
  ).map((word) => word.slice(0, longestWord));

const stemOf = (word: string): string =>
  word.length < 4 ? word : word.replace(/(?<=..)(?:ies|y)$|(?<=...)(?:ing|ed|es|[es])$/, '');
