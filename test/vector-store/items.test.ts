/** Tests chunking of text into items, and format detection of uploads. */
import fc from 'fast-check';
import t from 'tap';
import { detectEncoding } from '../../src/offload/detect-encoding.ts';
import { wholeCharacters } from '../../src/offload/text-sample.ts';
import type { SplitRules } from '../../src/ports/offload.ts';
import { tokenCounter } from '../../src/tokens/count.ts';
import { countTokens } from '../../src/tokens/simulator.ts';
import { splitText } from '../../src/tokens/split.ts';
import { UploadFormat } from '../../src/vector-stores/upload-format.ts';
import { encodeAs, samples } from '../offload/sample-languages.ts';

const rules: SplitRules = { maxTokens: 20, overlapTokens: 6 };
const split = (text: string, by: SplitRules = rules): readonly string[] =>
  splitText({ text, covered: 0, final: true }, by, countTokens).items;

/** The same in windows of so many characters, as a file is read. */
const splitInWindows = (text: string, size: number, by: SplitRules = rules): readonly string[] => {
  const items: string[] = [];
  let rest = '';
  let covered = 0;
  for (let start = 0; start < text.length; start += size) {
    const final = start + size >= text.length;
    const window = { text: rest + text.slice(start, start + size), covered, final };
    const found = splitText(window, by, countTokens);
    items.push(...found.items);
    rest = found.rest;
    covered = found.covered;
  }
  return items;
};

t.test('boundaries', async (t) => {
  t.same(split(''), []);
  t.same(split(' \n '), []);
  t.same(split('One short text.'), ['One short text.']);
  const none = { maxTokens: 12, overlapTokens: 0 };
  t.same(
    split('The first sentence has six words. The second one has seven words. The third, too.', none),
    ['The first sentence has six words.', 'The second one has seven words. The third, too.'],
    'sentences stay whole',
  );
  t.same(
    split('Aa bb cc dd. Ee ff.\n\nGg hh ii jj kk ll mm.', none),
    ['Aa bb cc dd. Ee ff.', 'Gg hh ii jj kk ll mm.'],
    'paragraphs before sentences',
  );
  t.same(
    split('Aa bb cc dd ee ff.\n\nGg.\n# New part\nHh ii jj kk ll mm nn.', {
      maxTokens: 16,
      overlapTokens: 6,
    }),
    ['Aa bb cc dd ee ff.\n\nGg.', '# New part\nHh ii jj kk ll mm nn.'],
    'headings before paragraphs, and nothing is carried over them',
  );
  t.same(
    split('See e.g. J. Doe here. Then go.', none),
    ['See e.g. J. Doe here.', 'Then go.'],
    'a point does not always end a sentence',
  );
  t.same(split('月が海を引く。潮が満ちる。', { maxTokens: 8, overlapTokens: 0 }), [
    '月が海を引く。',
    '潮が満ちる。',
  ]);
  t.same(
    split('Aa bb cc dd ee. Ff gg hh. Ii jj kk ll mm nn oo. Pp qq.', { maxTokens: 14, overlapTokens: 5 }),
    ['Aa bb cc dd ee. Ff gg hh.', 'Ff gg hh. Ii jj kk ll mm nn oo.', 'Pp qq.'],
    'each begins with the end of the one before, where a sentence fits',
  );
  t.same(
    split('a'.repeat(400), { maxTokens: 20, overlapTokens: 0 }).join(''),
    'a'.repeat(400),
    'what has no border is cut anywhere',
  );
});

/** Words, sentences, lines, headings, tables, long runs, wide characters and emoji, in any order. */
const wild = fc
  .array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom('word ', 'water ', 'a ', 'tide, ', 'end. ', 'What? ', '12 ', '\n'),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom('\n\n', '\n# Part\n', '| a | b |\n', '。', '月', '👩‍🚀', '\r\n\r\n', '\t'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
      { weight: 1, arbitrary: fc.constant('x'.repeat(100)) },
    ),
    { maxLength: 500, size: 'max' },
  )
  .map((parts) => parts.join(''));

const wildRules = fc
  .tuple(fc.integer({ min: 100, max: 160 }), fc.integer({ min: 0, max: 60 }))
  .map(([maxTokens, overlap]) => ({ maxTokens, overlapTokens: Math.min(overlap, maxTokens / 2) }));

/** Every item is in the text, starts no later than the previous one ends, and together they cover all. */
const covers = (text: string, items: readonly string[]): boolean => {
  let done = 0;
  for (const item of items) {
    const blanks = text.length - done - text.slice(done).trimStart().length;
    const at = text.lastIndexOf(item, done + blanks);
    if (at < 0 || at + item.length <= done) return false;
    done = at + item.length;
  }
  return text.slice(done).trim() === '';
};

t.test('whatever the text, nothing is lost and no item is too long', async (t) => {
  fc.assert(
    fc.property(wild, wildRules, (text, by) => {
      const items = split(text, by);
      for (const item of items) if (countTokens(item) > by.maxTokens || item.trim() === '') return false;
      return covers(text, items);
    }),
    { numRuns: 100 },
  );
  t.pass();
});

t.test('read in windows, nothing is lost either, and the same windows give the same items', async (t) => {
  fc.assert(
    fc.property(wild, wildRules, fc.integer({ min: 1, max: 900 }), (text, by, size) => {
      const items = splitInWindows(text, size, by);
      for (const item of items) if (countTokens(item) > by.maxTokens) return false;
      return covers(text, items) && String(splitInWindows(text, size, by)) === String(items);
    }),
    { numRuns: 100 },
  );
  t.pass();
});

t.test('with the tokenizer of a real model', async (t) => {
  const count = tokenCounter('cl100k_base');
  const text = 'The moon pulls on the sea. Unbelievably so, 海は広い! '.repeat(60);
  const { items } = splitText(
    { text, covered: 0, final: true },
    { maxTokens: 100, overlapTokens: 20 },
    count,
  );
  t.ok(items.length > 5);
  for (const item of items) t.ok(count(item) <= 100);
});

t.test('a large text takes linear time', async (t) => {
  const text = `${' \n'.repeat(50_000)}${'. '.repeat(50_000)}${'\n \t'.repeat(50_000)}${'"'.repeat(50_000)}`;
  t.ok(split(text, { maxTokens: 320, overlapTokens: 40 }).length > 0);
});

const verdict = async (bytes: Buffer, name: string, chunk: number, type = '') => {
  const format = new UploadFormat({
    textEncoding: async ({ sample, wide }) => detectEncoding(Buffer.from(sample), wide),
  });
  for (let start = 0; start < bytes.length; start += chunk) format.push(bytes.subarray(start, start + chunk));
  return format.verdict(name, type);
};

t.test('uploads are identified by their bytes, however they are split', async (t) => {
  const utf8 = Buffer.from('Käfer 月 👩‍🚀 fliegen.');
  for (let chunk = 1; chunk <= utf8.length; chunk++)
    t.same(await verdict(utf8, 'a.md', chunk), {
      readable: true,
      format: { kind: 'text', encoding: 'utf-8' },
      mediaType: 'text/markdown',
    });
  t.match(
    await verdict(utf8.subarray(0, 2), 'a', 1),
    { format: { encoding: 'windows-1252' } },
    'half a character is none',
  );
  t.match(await verdict(Buffer.from([0x4b, 0xe4, 0x66]), 'a', 2), { format: { encoding: 'windows-1252' } });
  const [japanese] = samples.filter(({ language }) => language === 'Japanese');
  const lines = `log\n${japanese?.text}\nend`;
  for (const chunk of [1, 2, 3, 7, 64, 1000])
    t.match(
      await verdict(encodeAs('shift_jis', lines), 'a', chunk),
      { format: { encoding: 'shift_jis' } },
      `split every ${chunk} bytes`,
    );
  t.match(await verdict(Buffer.from('about %PDF-1.4 files'), 'a', 5), { mediaType: 'text/plain' });
  t.match(await verdict(Buffer.from('a,b'), 'a.bin', 5, 'text/csv; charset=utf-8'), {
    mediaType: 'text/csv',
  });
  t.match(await verdict(Buffer.from('{}'), 'a.bin', 5, 'application/json'), {
    mediaType: 'application/json',
  });
  t.same(await verdict(Buffer.alloc(0), 'a', 1), { readable: false, reason: 'the file is empty' });
  t.equal(wholeCharacters(Buffer.from('aé').subarray(0, 2)), 1);
  t.equal(wholeCharacters(Buffer.from('aé')), 3);
});
