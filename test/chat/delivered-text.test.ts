/** Tests the text that is kept of a stream, and what is counted of it. */
import fc from 'fast-check';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import { lastValueFrom } from 'rxjs';
import t from 'tap';
import { toJsonText } from '../../src/ports/engines/chat.ts';
import { tokenCounter } from '../../src/tokens/count.ts';
import { DeliveredText } from '../../src/tokens/delivered-text.ts';
import { createTokenCounts } from '../../src/tokens/token-counts.ts';
import { sampleModel } from '../samples.ts';

t.test('what was added is what is taken', async (t) => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'grapheme-ascii', maxLength: 400 }),
    fc.constantFrom('', 'é', '\n', '"', '好', '👍🏽', '\ud83d', '\ude00', 'ÿ', 'Ā'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(30_000), fc.nat(40), (pieces, more, readAt) => {
      // A part of them is long enough to be compressed once or several times.
      const filler = 'The water rises. '.repeat(more / 17);
      pieces.splice(pieces.length >> 1, 0, filler);
      const delivered = new DeliveredText();
      pieces.forEach((one, index) => {
        if (index === readAt) t.equal(delivered.read(), pieces.slice(0, index).join(''));
        delivered.add(toJsonText(one));
      });
      const { text, characters } = delivered.take();
      return (
        text === pieces.join('') &&
        characters === delivered.characters &&
        delivered.pieces === pieces.filter((one) => one !== '').length
      );
    }),
    { numRuns: 500 },
  );

  const long = new DeliveredText();
  const word = toJsonText('word ');
  for (let at = 0; at < 100_000; at++) long.add(word);
  const { text, characters } = long.take();
  t.equal(long.characters, 500_000);
  t.equal(long.pieces, 100_000);
  t.ok(characters <= 128 * 1024 && characters > 128 * 1024 - 5, `${characters} are kept`);
  t.equal(text.length, characters);
});

t.test('a text counted in parts has the tokens of the whole', async (t) => {
  const sentences = fc.array(
    fc.constantFrom(
      '春天来了，公园里的花都开了。',
      '東京は日本の首都であり、',
      '안녕하세요 세계! ',
      'The water rises behind the gate. ',
      'const value = (a ?? b)[0]; // 42\n',
      '          ',
      '「你好」她说：',
      '人'.repeat(150),
      'aGVsbG8gd29ybGQ'.repeat(12),
      '🎉🎉 ',
    ),
    { minLength: 20, maxLength: 120 },
  );
  for (const [name, encoding] of [
    ['o200k_base', o200k],
    ['cl100k_base', cl100k],
  ] as const) {
    const count = tokenCounter(name);
    let worst = 0;
    fc.assert(
      fc.property(sentences, (list) => {
        const text = list.join('');
        const exact = encoding.encode(text).length;
        const off = count(text) / exact - 1;
        worst = Math.max(worst, Math.abs(off));
        return Math.abs(off) <= 0.02;
      }),
      { seed: 20_260_101, numRuns: 100 },
    );
    t.pass(`${name}: at most ${(worst * 100).toFixed(2)} % off`);
  }
});

t.test('what cannot be counted is estimated, and counts wait for each other', async (t) => {
  const model = sampleModel({ tokenizer: 'o200k_base' });
  let running = 0;
  let most = 0;
  const counts = createTokenCounts({
    countTokens: async (texts) => {
      running++;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      if (texts[0] === 'fails') throw new Error('The queue is full');
      return 100;
    },
  });
  const count = (text: string, pieces: number) =>
    lastValueFrom(counts.count(model, { texts: [text], scale: 1, pieces }));
  t.strictSame(
    await Promise.all([
      count('x'.repeat(400), 10),
      count('fails', 3),
      count('x'.repeat(400), 95),
      count('', 0),
    ]),
    [100, 3, 95, 0],
    'by tokenizer; by pieces; one piece for each token; nothing',
  );
  t.equal(most, 1);
});

t.test(
  'finished responses are counted only once a count is needed, and teach the ratio of vocabularies',
  async (t) => {
    const model = sampleModel({ tokenizer: 'o200k_base' });
    const counted: string[] = [];
    const counts = createTokenCounts({
      countTokens: async ([text = '']) => {
        counted.push(text);
        if (text === 'fails') throw new Error('The queue is full');
        return 100;
      },
    });
    for (const text of ['first', 'fails', 'third']) {
      t.ok(counts.learns(model));
      counts.learn(model, { texts: [text], scale: 1, pieces: 20 }, 150);
    }
    t.strictSame(counted, [], 'no tokenizer is loaded');
    const count = () => lastValueFrom(counts.count(model, { texts: ['left early'], scale: 1, pieces: 20 }));
    t.equal(await count(), 149, 'half as many again, less what a foreign vocabulary may be off');
    t.equal(await count(), 149);
    t.strictSame(counted, ['first', 'fails', 'third', 'left early', 'left early'], 'each once');
    for (let number = 0; number < 20; number++)
      if (counts.learns(model))
        counts.learn(model, { texts: [`later ${number}`], scale: 1, pieces: 20 }, 150);
    await count();
    t.equal(counted.length, 5 + 5 + 1, 'eight at first, then one every half minute');
  },
);
