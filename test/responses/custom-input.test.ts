/** Tests that the text of a custom tool call is cut out of the arguments, however they are split. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { CustomInput } from '../../pipelines/responses/custom-input.ts';
import { toJsonText } from '../../src/ports/engines/chat.ts';

/** Each piece on its own, as a client reads its deltas; the last one comes at the end. */
const read = (pieces: readonly string[]): string[] => {
  const input = new CustomInput();
  const texts = [...pieces.map((piece) => input.add(toJsonText(piece))), input.end()];
  return texts.map((text) => JSON.parse(`"${text}"`) as string);
};
const whole = (...pieces: string[]): string => read(pieces).join('');

const split = (text: string, cuts: readonly number[]): string[] => {
  const pieces: string[] = [];
  let at = 0;
  for (const size of cuts) {
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return [...pieces, text.slice(at)];
};

const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 });
const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('"', '\\', '\n', 'u', '😀'),
  ),
});
const space = fc.constantFrom('', ' ', '\n  ', '\t');
/** Every character as an escape, which is legal too. */
const escapeAll = (value: string): string =>
  `"${value.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

t.test('the text comes out as it went in', async () => {
  fc.assert(
    fc.property(text, cuts, space, fc.boolean(), (given, cuts, gap, escaped) => {
      const value = escaped ? escapeAll(given) : JSON.stringify(given);
      const json = `${gap}{${gap}"input"${gap}:${gap}${value}${gap}}${gap}`;
      const texts = read(split(json, cuts));
      assert.equal(texts.join(''), given);
      assert.equal(texts.at(-1), '', 'nothing is held back until the end');
    }),
    { numRuns: 500, seed: 3 },
  );
});

t.test('whatever an engine sends, each delta is JSON text', async () => {
  const odd = fc.constantFrom(
    '{"input":"',
    '"',
    '\\',
    '\\u12',
    '\\x',
    '}',
    '\n',
    '\u0000',
    'text',
    '\ud83d',
    '{',
  );
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 12 }), (pieces) => {
      read(pieces);
    }),
    { numRuns: 500, seed: 4 },
  );
});

t.test('arguments that are not as expected', async (t) => {
  t.same(read(['{"in', 'put":"a', 'b\\', 'n', '"}']), ['', 'a', 'b', '\n', '', ''], 'as it arrives');
  t.equal(whole('{"input":"a","more":"b"}'), 'a', 'more fields');
  t.equal(whole('{"more":1,"input":"a"}'), 'a', 'fields in another order');
  t.equal(whole('*** Begin Patch\n"a"'), '*** Begin Patch\n"a"', 'the text itself');
  t.equal(whole('{"patch":"a"}'), '{"patch":"a"}', 'another field');
  t.equal(whole('{"input":{"a":1}}'), '{"input":{"a":1}}', 'no text');
  t.equal(whole('{"input":"a\nb\\d\t'), 'a\nb\\d\t', 'text that is not escaped');
  t.equal(whole('{"input":"a\\u00'), 'a', 'cut inside an escape');
  t.equal(whole(`${' '.repeat(1000)}`, '{"input":"a"}'), 'a', 'a long way to the text');
  for (const begun of ['', ' ', '{', '{ "', '{"inp', '{"input"', '{"input" : '])
    t.equal(whole(begun), '', begun);
});
