/** Texts in the encodings of many languages are read as what they say, or refused. */
import fc from 'fast-check';
import t from 'tap';
import { ApiError } from '../../src/errors.ts';
import { documentText } from '../../src/offload/document-text.ts';
import { encodeAs, type Sample, samples } from './sample-languages.ts';

const bounds = { maxPages: 1, maxExpanded: 1000, maxCharacters: 1_000_000, maxDepth: 1000 };

const read = (bytes: Buffer, filename = 'notes.txt'): Promise<string> =>
  documentText(bytes, filename, bounds);

const refusal =
  'the document cannot be read: its text is in an encoding that cannot be determined; save it as UTF-8 and send it again';

/** The text; undefined where it is refused for its encoding. */
const readOrRefused = (bytes: Buffer): Promise<string | undefined> =>
  read(bytes).catch((reason: unknown) => {
    if (reason instanceof ApiError && reason.kind === 'invalid_request' && reason.message === refusal)
      return undefined;
    throw reason;
  });

const pairs = samples.flatMap((sample) => sample.encodings.map((encoding) => ({ ...sample, encoding })));

t.test('a few sentences are read in every encoding of every language', async (t) => {
  for (const { language, encoding, text } of pairs)
    t.equal(await read(encodeAs(encoding, text)), text, `${language} in ${encoding}`);
});

t.test('long texts, also behind pages of ASCII', async (t) => {
  const preface = 'line of a log without any letter of it\r\n'.repeat(2000);
  for (const { language, encoding, text } of pairs) {
    if (encoding === 'iso-2022-jp') continue;
    const long = `${preface}${`${text}\r\n`.repeat(200)}`;
    t.equal(await read(encodeAs(encoding, long)), long, `${language} in ${encoding}`);
  }
});

/** Bytes that are not ASCII from which on no text of another script may come out. */
const enough = 32;

t.test(
  'any part of a text is read as it is, with other accents, or refused; never as another script',
  async (t) => {
    const parts = pairs.filter(({ encoding }) => encoding !== 'iso-2022-jp');
    let refused = 0;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...parts),
        fc.integer({ min: 0, max: 100 }),
        fc.integer({ min: 20, max: 160 }),
        async ({ text, encoding, language }, start, length) => {
          const part = wholeWords(text, start, length);
          const bytes = encodeAs(encoding, part);
          fc.pre(bytes.filter((byte) => byte > 0x7f).length >= (isLatin(language) ? 1 : enough));
          runs++;
          const found = await readOrRefused(bytes);
          if (found === undefined) refused++;
          else if (isLatin(language)) return found.length === part.length && plain(found) === plain(part);
          return found === undefined || isLatin(language) || found === part;
        },
      ),
      { numRuns: 400, seed: 20_260_801 },
    );
    t.ok(refused <= runs / 20, `${refused} of ${runs} refused`);
  },
);

const isLatin = (language: Sample['language']): boolean =>
  /Turkish|Polish|Czech|Hungarian|French|German|Spanish|Swedish|Lithuanian/.test(language);

/** Without what differs between Latin alphabets. */
const plain = (text: string): string => text.replace(/[^ -~]/g, '·');

const wholeWords = (text: string, start: number, length: number): string => {
  const part = text.slice(start, start + length);
  return /\s/.test(part) ? part.replace(/^\S*\s/, '').replace(/\s\S*$/, '') : part;
};

t.test('words that could be anything are refused', async (t) => {
  for (const [encoding, word] of [
    ['windows-1251', 'лёд'],
    ['windows-1253', 'νερό'],
    ['windows-1251', 'мефеле'],
    ['gbk', '船闸'],
  ] as const)
    t.equal(await readOrRefused(encodeAs(encoding, word)), undefined, `${word} in ${encoding}`);
  const noise = Buffer.from(Array.from({ length: 3000 }, (_, at) => 0x21 + ((at * 7919) % 223)));
  t.equal(await readOrRefused(noise), undefined, 'bytes of no language');
});

t.test('UTF-16 without a byte order mark', async (t) => {
  for (const { language, text } of samples) {
    const lines = `${text}\n1. ${text}\n`;
    const little = Buffer.from(lines, 'utf16le');
    t.equal(await read(little), lines, `${language}, little-endian`);
    t.equal(await read(Buffer.from(little).swap16()), lines, `${language}, big-endian`);
  }
});

t.test('UTF-8 with a broken character stays UTF-8', async (t) => {
  const text = 'Grün, weiß und 日本'.repeat(20);
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from([0xe6, 0x97]), Buffer.from('\nEnde')]);
  t.equal(await read(bytes), `${text}\ufffd\nEnde`);
});

t.test('a declaration counts, unless the bytes contradict it', async (t) => {
  const word = encodeAs('windows-1251', 'лёд');
  const page = (head: string): Buffer => Buffer.concat([Buffer.from(head), word]);
  t.equal(await read(page('<html><meta charset="windows-1251"><p>')), 'лёд');
  t.equal(
    await read(page('<?xml version="1.0" encoding="windows-1251"?><a>')),
    '<?xml version="1.0" encoding="windows-1251"?><a>лёд',
  );
  t.equal(await readOrRefused(page('<html><meta charset="utf-8"><p>')), undefined, 'it is no UTF-8');
  t.equal(await readOrRefused(page('<html><meta charset="x-unknown"><p>')), undefined);
});

t.test('escapes of a terminal are no Japanese', async (t) => {
  t.equal(await read(Buffer.from('\x1b[31mred\x1b[0m')), '\x1b[31mred\x1b[0m');
  t.equal(await read(Buffer.from('\x1b[31mvert café\x1b[0m')), '\x1b[31mvert café\x1b[0m');
});
