/** The model in the first bytes of a body is the one that a parser finds in all of it, or unknown. */
import fc from 'fast-check';
import t from 'tap';
import { modelInForm, modelInJson } from '../../pipelines/core/named-model.ts';
import { orLong } from '../long.ts';

const hasModel = (value: unknown): value is { readonly model: string } =>
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, 'model') &&
  typeof (value as { readonly model: unknown }).model === 'string';

/** Objects with a `model` of any type in any place, also inside other members, and strings that look like JSON. */
const member = fc.oneof(
  fc.constantFrom('model', '"', '\\', '\\"model":"x"', '{"model":"y"}', '[', '}', ',"model":', '\u2028😀'),
  fc.jsonValue({ maxDepth: 3 }),
);
const nested = fc.dictionary(fc.oneof(fc.constantFrom('model', 'Model', '"model"'), fc.string()), member);
const members = fc.array(
  fc.tuple(fc.oneof(fc.constantFrom('model', 'messages'), fc.string()), fc.oneof(member, nested)),
);
/** Every other one has a model among its members. */
const body = fc.tuple(members, fc.option(fc.string(), { freq: 2 }), members).map(([before, model, after]) => {
  if (model === null) return Object.fromEntries([...before, ...after]);
  const others = after.filter(([name]) => name !== 'model');
  return Object.fromEntries([...before, ['model', model], ...others]);
});

/** As other serialisers write it: with escapes where none are needed, blanks and a byte order mark. */
const written = fc.record({
  value: body,
  indent: fc.constantFrom(0, 1, '\t'),
  escapes: fc.boolean(),
  mark: fc.boolean(),
});

const textOf = ({
  value,
  indent,
  escapes,
  mark,
}: typeof written extends fc.Arbitrary<infer T> ? T : never) => {
  const plain = JSON.stringify(value, null, indent);
  const text = escapes ? plain.replaceAll('o', '\\u006f') : plain;
  return `${mark ? '\ufeff' : ''}${text}`;
};

t.test('any object, cut anywhere', async (t) => {
  let named = 0;
  fc.assert(
    fc.property(written, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
      const text = textOf(given);
      const parsed: unknown = JSON.parse(text.replace('\ufeff', ''));
      const bytes = Buffer.from(text);
      const cut = modelInJson(bytes.subarray(0, Math.round(bytes.length * share)));
      const whole = modelInJson(bytes);
      if (whole !== undefined) named++;
      const model = hasModel(parsed) ? parsed.model : undefined;
      if (whole !== model) return false;
      return cut === undefined || cut === model;
    }),
    { numRuns: orLong(750, 3000) },
  );
  t.ok(named > 100, `${named} of them had a model`);
});

t.test('any bytes', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), (bytes, text) => {
      modelInJson(Buffer.from(bytes));
      modelInJson(Buffer.from(`{"model":${text}`));
    }),
    { numRuns: orLong(250, 1000) },
  );
});

t.test('JSON', async (t) => {
  const found = (text: string) => modelInJson(Buffer.from(text));
  t.equal(found('{"model":"a/b","messages":['), 'a/b');
  t.equal(found('{"stream":true,"mod\\u0065l" : "\\u0061/b:c"'), 'a/b:c');
  t.equal(found('{"messages":[{"model":"x"},["model"],"model"],"n":1.5e3,"model":"a"'), 'a');
  t.equal(found('{"model":"a","model":"b"}'), 'a', 'the first of several');
  for (const unknown of [
    '',
    '{"model":"a',
    '{"model":5,"x":"a"}',
    '{"model":null}',
    '{"model":{"model":"a"},"x":"b"}',
    '{"model":["a"]}',
    '{"messages":{"model":"a"},',
    '["model","a"]',
    '[{"model":"a"}]',
    '"model"',
    '{}{"model":"a"}',
    `{"model":"${'a'.repeat(2000)}"}`,
  ])
    t.equal(found(unknown), undefined, unknown.slice(0, 40));
});

t.test('forms', async (t) => {
  const type = 'multipart/form-data; boundary=--x-1';
  const part = (head: string, value: string) =>
    `----x-1\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  const end = '----x-1--\r\n';
  const found = (text: string, as = type) => modelInForm(Buffer.from(text), as);
  const model = part('name="model"', 'a/ü');
  const file = part('name="file"; filename="a.wav"\r\nContent-Type: audio/wav', 'RIFF\r\n\r\nname="model"');
  t.equal(found(model + end), 'a/ü');
  t.equal(found(model + file), 'a/ü', 'the file goes on');
  t.equal(found(file + model + end), 'a/ü');
  t.equal(found(part('name=model', 'a') + end), 'a');
  t.equal(found(part('name="prompt"', 'x') + model + end, 'multipart/form-data; boundary="--x-1"'), 'a/ü');
  for (const unknown of [
    '',
    model,
    file + end,
    part('name="model"; filename="m"', 'a') + end,
    part('name="models"', 'a') + end,
    part('filename="x"; foo="; name=model"', 'a') + end,
  ])
    t.equal(found(unknown), undefined, unknown.slice(0, 60));
  t.equal(found(model + end, 'multipart/form-data'), undefined, 'no boundary');
});
