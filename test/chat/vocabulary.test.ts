/** Tests the flat vocabularies against those of the library whose files they read. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import t from 'tap';
import { loadVocabulary } from '../../src/tokens/encoding.ts';
import { Vocabulary } from '../../src/tokens/vocabulary.ts';

const library = { cl100k_base: cl100k, o200k_base: o200k };
/** Special tokens are text like any other. */
const plain = { disallowedSpecial: new Set<string>() };

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        "The water's rising, they'll say. ",
        'internationalization',
        'const value = (a ?? b)[0]; // 42\n',
        '1234567890',
        ' \n\n\t ',
        '东京は日本の首都であり、',
        'Ünïcödé ',
        '👩🏽‍🚀',
        '\ud83d',
        '<|endoftext|>',
        'x'.repeat(50),
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join('')),
);

for (const [name, theirs] of Object.entries(library)) {
  t.test(`${name}: the tokens, their number and their text are those of the library`, async () => {
    const vocabulary = loadVocabulary(name);
    fc.assert(
      fc.property(text, (input) => {
        const tokens = theirs.encode(input, plain);
        const own = vocabulary.encode(input);
        return (
          own.length === tokens.length &&
          own.every((token, index) => token === tokens[index]) &&
          vocabulary.countTokens(input) === tokens.length &&
          vocabulary.decode(own) === theirs.decode(tokens)
        );
      }),
      { numRuns: 500 },
    );
  });

  t.test(`${name}: ids outside of it are refused`, async (t) => {
    const vocabulary = loadVocabulary(name);
    const count = { cl100k_base: 100_256, o200k_base: 199_998 }[name] ?? 0;
    t.ok(vocabulary.decode([count - 1]).length > 0);
    t.throws(() => vocabulary.decode([count]), /not in the vocabulary/);
    t.throws(() => vocabulary.decode([-1]), /not in the vocabulary/);
    t.equal(vocabulary.decode([]), '');
  });
}

t.test('a piece may be longer than any before it', async (t) => {
  const long = 'ab'.repeat(3000);
  t.strictSame(loadVocabulary('cl100k_base').encode(long), cl100k.encode(long, plain));
});

t.test('a file that is damaged is not used', async (t) => {
  const file = path.join(t.testdir(), 'vocabulary.tiktoken');
  const read = (lines: string) => {
    writeFileSync(file, lines);
    return new Vocabulary(pathToFileURL(file), /./gu);
  };
  t.strictSame(read('YQ== 0\nYg== 1\n').encode('abba'), [0, 1, 1, 0]);
  t.throws(() => read('YQ== 0\nYg== 1'), /vocabulary\.tiktoken is incomplete/);
  for (const line of ['Yg== 2', 'Yg== ', 'Yg==', '', ' 1', '!!!! 1', 'Yg== one'])
    t.throws(() => read(`YQ== 0\n${line}\n`), /Line 2 of the vocabulary is damaged/, line);
});
