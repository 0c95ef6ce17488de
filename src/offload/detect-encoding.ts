/** Tells the encoding of a text that declares none: by its letters' statistics, or not at all where they do not decide. */
import { chardet } from 'jschardet';

/** The detector's names, and those of `TextDecoder`; the scripts that a wrong guess would confuse. */
const encodings: Readonly<
  Record<string, { readonly label: string; readonly script: string; readonly wide?: true }>
> = {
  cp1250: { label: 'windows-1250', script: 'latin' },
  cp1252: { label: 'windows-1252', script: 'latin' },
  cp1254: { label: 'windows-1254', script: 'latin' },
  cp1257: { label: 'windows-1257', script: 'latin' },
  cp1258: { label: 'windows-1258', script: 'latin' },
  'iso8859-2': { label: 'iso-8859-2', script: 'latin' },
  cp1251: { label: 'windows-1251', script: 'cp1251' },
  'iso8859-5': { label: 'iso-8859-5', script: 'iso8859-5' },
  'koi8-r': { label: 'koi8-r', script: 'koi8' },
  'koi8-u': { label: 'koi8-u', script: 'koi8' },
  cp1253: { label: 'windows-1253', script: 'greek' },
  'iso8859-7': { label: 'iso-8859-7', script: 'greek' },
  cp1255: { label: 'windows-1255', script: 'hebrew' },
  cp1256: { label: 'windows-1256', script: 'arabic' },
  cp874: { label: 'windows-874', script: 'thai' },
  cp932: { label: 'shift_jis', script: 'shift_jis', wide: true },
  euc_jis_2004: { label: 'euc-jp', script: 'euc-jp', wide: true },
  gb18030: { label: 'gb18030', script: 'gb18030', wide: true },
  big5hkscs: { label: 'big5', script: 'big5', wide: true },
  cp949: { label: 'euc-kr', script: 'euc-kr', wide: true },
};

/** Confidence from which on a guess counts, and how many times that of the next script it must be. */
const sure = 0.06;
const lead = 1.5;
/** The same among Latin alphabets, where most texts are of Western Europe. */
const latinLead = 1.1;
/** Of so many foreign characters one may be broken. */
const mostBroken = 8;
/** Characters of a Japanese syllabary that no other text has so many of. */
const enoughKana = 4;

/** A label of `TextDecoder`; undefined where the bytes do not decide. `wide`: they have zeros, as UTF-16 has. */
export const detectEncoding = (sample: Buffer, wide = false): string | undefined => {
  if (wide) return detectUtf16(sample);
  if (isEscaped(sample)) return 'iso-2022-jp';
  return isNearlyUtf8(sample) ? 'utf-8' : detectByLetters(sample);
};

const detectByLetters = (sample: Buffer): string | undefined => {
  const guesses = rank(sample);
  const [best] = guesses;
  const rival = guesses.find(({ script }) => script !== best?.script)?.confidence ?? 0;
  const known = best !== undefined && best.confidence >= Math.max(sure, rival * lead) ? best : undefined;
  if (known?.wide === true) return known.label;
  // Text in syllables alone has too few different bytes for the detector.
  const japanese = ['shift_jis', 'euc-jp'].find((label) => isJapanese(sample, label));
  if (japanese !== undefined) return japanese;
  return isLatin(sample) ? latinOf(guesses) : known?.label;
};

interface Guess {
  readonly label: string;
  readonly script: string;
  readonly wide?: true;
  readonly confidence: number;
}

/** The most likely first. */
const rank = (sample: Buffer): readonly Guess[] =>
  chardet
    .detectAll(sample, {
      includeEncodings: Object.keys(encodings),
      ignoreThreshold: true,
      compatNames: false,
    })
    .flatMap(({ encoding, confidence }) => {
      const known = encoding === null ? undefined : encodings[encoding];
      return known === undefined ? [] : [{ ...known, confidence }];
    });

const western = 'windows-1252';

/** Wrong among these, a text has some wrong accents, and is still the text. */
const latinOf = (guesses: readonly Guess[]): string => {
  const best = guesses.find(({ script }) => script === 'latin');
  const usual = guesses.find(({ label }) => label === western);
  return best !== undefined && best.confidence >= (usual?.confidence ?? 0) * latinLead ? best.label : western;
};

/** Zeros are the upper halves of ASCII characters, most of them; and no character is one that no text has. */
const detectUtf16 = (sample: Buffer): string | undefined => {
  const even = sample.subarray(0, sample.length & ~1);
  const zeros: [number, number] = [0, 0];
  for (let at = 0; at < even.length; at++) if (even[at] === 0) zeros[at & 1 ? 1 : 0]++;
  const [big, little] = zeros;
  return [
    { label: 'utf-16be', upper: big },
    { label: 'utf-16le', upper: little },
  ]
    .sort((one, other) => other.upper - one.upper)
    .find(({ label, upper }) => upper > 0 && isProper(even, label))?.label;
};

const isProper = (sample: Buffer, label: string): boolean => {
  // The last character may be cut in half.
  const text = new TextDecoder(label).decode(sample).replace(/\ufffd$/, '');
  return !/[\ufffd\p{Cc}\p{Cn}\p{Co}]/u.test(text.replace(/\s+/g, ''));
};

const toJapanese = ['\x1b$@', '\x1b$B', '\x1b$(D', '\x1b(J', '\x1b(I'];

/** ASCII with escape sequences to Japanese: what mail used to be sent in. */
const isEscaped = (sample: Buffer): boolean =>
  toJapanese.some((sequence) => sample.includes(sequence, 0, 'latin1')) &&
  !new TextDecoder('iso-2022-jp').decode(sample).includes('\ufffd');

const ascii = /[^\x80-\uffff]+/g;

/** A few broken characters do not make it another encoding. */
const isNearlyUtf8 = (sample: Buffer): boolean => {
  const foreign = sample.toString().replace(ascii, '');
  const broken = foreign.match(/\ufffd/g)?.length ?? 0;
  return foreign.length >= broken * mostBroken;
};

const kana = /[\u3041-\u3096\u30a1-\u30fa]/g;

/** Every character that is not ASCII is one that Japanese is written with, and a good part are syllables. */
const isJapanese = (sample: Buffer, label: string): boolean => {
  const text = new TextDecoder(label).decode(sample).replace(ascii, '');
  const syllables = text.match(kana)?.length ?? 0;
  const isForeign = /[^\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e\u2010-\u2026]/.test(text.slice(0, -1));
  return !isForeign && syllables >= enoughKana && syllables * 4 >= text.length;
};

/** Words of Latin alphabets have as many ASCII letters as others; those of other scripts have none. */
const isLatin = (sample: Buffer): boolean => {
  let plain = 0;
  let others = 0;
  for (const [word] of sample.toString('latin1').matchAll(/[A-Za-z\x80-\xff]+/g)) {
    const letters = word.replace(/[\x80-\xff]+/g, '').length;
    // A word such as à, a quotation mark or a dash says nothing, nor does one of ASCII alone.
    if (word.length === 1 || letters === word.length) continue;
    plain += letters;
    others += word.length - letters;
  }
  return plain >= others;
};
