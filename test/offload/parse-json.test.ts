/** Tests that the JSON parser agrees with JSON.parse, except for long base64. */
import fc from 'fast-check';
import t from 'tap';
import { ApiError } from '../../src/errors.ts';
import type { JsonBounds } from '../../src/offload/json-scan.ts';
import { parseJson } from '../../src/offload/parse-json.ts';

const bounds: JsonBounds = {
  maxText: 100_000,
  maxValues: 1000,
  maxMembers: 1000,
  maxStrings: 1000,
  maxDepth: 20,
};
const parse = (text: string, more: Partial<JsonBounds> = {}) =>
  parseJson(Buffer.from(text), { ...bounds, ...more });

/** The value with bytes replaced by readable text. */
const readable = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('latin1')}`;
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, readable(member)]));
};

const failure = (run: () => unknown): string => {
  try {
    run();
    return 'none';
  } catch (reason) {
    return reason instanceof ApiError ? `${reason.kind}: ${reason.message}` : (reason as Error).name;
  }
};

const base64 = Buffer.alloc(6000, 'any bytes? \xfb\xff').toString('base64');
const uri = `data:image/png;base64,${base64}`;

t.test('long base64 under a media key is bytes', async (t) => {
  const request = {
    model: 'é "quoted" \\ text',
    messages: [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: uri, detail: 'low' } }] },
      { role: 'user', content: [{ type: 'input_audio', input_audio: { data: base64, format: 'wav' } }] },
      { role: 'user', content: [{ type: 'file', file: { filename: 'a', file_data: uri } }] },
      { role: 'user', content: [{ type: 'input_image', image_url: uri }] },
    ],
  };
  const expected = JSON.parse(
    JSON.stringify(request).replaceAll(/"((?:data:|Y)[^"]{5000,})"/g, '"bytes $1"'),
  );
  for (const indent of [undefined, 2, '\t']) {
    t.same(readable(parse(JSON.stringify(request, undefined, indent)).value), expected);
  }
});

t.test('everything else is unchanged', async (t) => {
  const same: readonly unknown[] = [
    { url: uri.slice(0, 4000) },
    { content: uri },
    { text: base64 },
    { url: base64 },
    { url: [uri] },
    { data: `${base64.slice(0, -4)} ab=` },
    { data: base64.slice(3) },
    { url: `https://host.test/${'a'.repeat(5000)}` },
    { url: `data:text/plain,${'a'.repeat(5000)}` },
    { [base64]: 'a key', [uri]: { url: 'x' } },
    { data: base64.replaceAll('+', '-').replaceAll('/', '_') },
    { constructor: 1 },
    'just text',
    null,
    [],
    [[], {}, 0.5, -1e9, true],
  ];
  for (const value of same) t.same(parse(JSON.stringify(value)).value, value);
  t.equal(JSON.stringify(parse(`{"__proto__":{"data":"${base64}"}}`).value).length > 100, true);
});

t.test('escapes that serialisers put into base64', async (t) => {
  const cases = [
    uri.replaceAll('/', '\\/'),
    uri.replaceAll('+', '\\u002B').replaceAll('=', '\\u003d'),
    uri.replaceAll('A', '\\u0041'),
    uri.replace(/(?<=base64,.*)(.{76})/g, '$1\\r\\n'),
    uri.replace(/(?<=base64,.*)(.{76})/g, '$1\\n').replace(/=+$/, ''),
    uri.replace(/(?<=base64,.*)(.{64})/g, '$1\\u000a'),
  ];
  for (const text of cases) t.same(readable(parse(`{"url":"${text}"}`).value), { url: `bytes ${uri}` });
  for (const odd of ['\\t', ' ', '\\u0141', '\\ud83d\\ude00', '\\"', '\\\\', '\\uZZZZ']) {
    t.equal(
      failure(() => parse(`{"a":[{"url":"${uri.slice(0, -8)}${odd}"}]}`)),
      'invalid_request: a[0].url is not valid base64',
      odd,
    );
  }
});

t.test('buffers: long ones separate, short ones shared', async (t) => {
  const long = Buffer.alloc(900_000).toString('base64');
  const { value, buffers } = parse(JSON.stringify([{ data: long }, { url: uri }, { data: base64 }]));
  const views = (value as { data?: Uint8Array; url?: Uint8Array }[]).map(({ data, url }) => data ?? url);
  t.same(
    buffers.map(({ byteLength }) => byteLength),
    [uri.length + base64.length, long.length],
  );
  t.equal(views[0]?.buffer, buffers[1]);
  t.ok(views[1]?.buffer === buffers[0] && views[2]?.buffer === buffers[0]);
});

t.test('bounds and syntax errors', async (t) => {
  const cases: readonly [string, string, string][] = [
    [
      'too deep',
      `${'['.repeat(21)}${']'.repeat(21)}`,
      'invalid_request: The request is nested more than 20 levels deep',
    ],
    [
      'values',
      `[${'0,'.repeat(1001)}0]`,
      'invalid_request: The request holds more than 1000 members, 1000 strings or 1000 values',
    ],
    [
      'members',
      `[${'{},'.repeat(999)}{}]`,
      'invalid_request: The request holds more than 1000 members, 1000 strings or 1000 values',
    ],
    [
      'strings',
      `["${'a","'.repeat(500)}",{"${'a":"b","'.repeat(251)}":0}]`,
      'invalid_request: The request holds more than 1000 members, 1000 strings or 1000 values',
    ],
    [
      'text',
      JSON.stringify({ content: 'x'.repeat(100_000), url: uri }),
      'payload_too_large: The request holds more than 100000 bytes of text beside its base64 media',
    ],
    [
      'a bad data URI',
      JSON.stringify({ messages: [{ url: `${uri}*` }] }),
      'invalid_request: messages[0].url is not valid base64',
    ],
    ['no JSON', '{"a":', 'SyntaxError'],
    ['no JSON, with media', `{"url":"${uri}"`, 'SyntaxError'],
    ['no end', `{"url":"${uri}`, 'SyntaxError'],
    ['nothing', '', 'SyntaxError'],
    ['control characters', '{"a":"\n"}', 'SyntaxError'],
  ];
  for (const [name, text, expected] of cases)
    t.equal(
      failure(() => parse(text)),
      expected,
      name,
    );
  t.equal(
    failure(() => parseJson(Buffer.from('"\xff"', 'latin1'), bounds)),
    'invalid_request: The request body is not valid UTF-8',
  );
  t.doesNotThrow(() => parse(`${'['.repeat(20)}${']'.repeat(20)}`));
});

t.test('as JSON.parse, for any text', async () => {
  const keys = fc.constantFrom('url', 'data', 'file_data', 'image_url', 'content', 'a"b', '\\');
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(uri, base64, '\\', '"', `${uri}"`, ''),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ depthSize: 'small' }, texts, fc.double(), fc.boolean(), tie('list'), tie('object')),
    list: fc.array(tie('tree'), { maxLength: 4 }),
    object: fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
  }));
  const plain = (value: unknown) => JSON.stringify(readable(value)).replaceAll('"bytes ', '"');
  fc.assert(
    fc.property(tree, fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent) ?? 'null';
      // A quote after a data URI makes it no base64, which is an error of its own.
      fc.pre(!text.includes(`${uri}\\"`));
      return plain(parse(text).value) === plain(JSON.parse(text));
    }),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '}', '[', ']', ':', ',', '"', '\\', 'u', '1', 'url', ' ') }),
      (text) => {
        let expected = 'none';
        try {
          JSON.parse(text);
        } catch {
          expected = 'SyntaxError';
        }
        return failure(() => parse(text)) === expected;
      },
    ),
    { numRuns: 500 },
  );
});

t.test('one integer may keep its digits, wherever else its name appears', async (t) => {
  const withKey = (text: string) =>
    (parseJson(Buffer.from(text), bounds, 'seed').value as { seed: unknown }).seed;
  for (const [text, seed] of [
    ['{"seed":9223372036854775807}', 9223372036854775807n],
    ['{"a":{"seed":1234567890123456789},"seed" :\n-9007199254740993 }', -9007199254740993n],
    ['{"seed":1234567890123456,"seed":7}', 7],
    ['{"b":"seed","c":["seed",12345678901234567],"seed":1}', 1],
    ['{"d":"\\"seed","seed":123456789012345678}', 123456789012345678n],
    ['{"seed":12345678901234567.5}', Number('12345678901234567.5')],
    ['{"seed":1e30}', 1e30],
    ['{"seed":"9223372036854775807"}', '9223372036854775807'],
  ] as const)
    t.same(withKey(text), seed, text);
  fc.assert(
    fc.property(
      fc.bigInt({ min: 10n ** 15n, max: 2n ** 90n }),
      fc.jsonValue({ maxDepth: 2 }),
      (seed, other) =>
        withKey(`{"other":${JSON.stringify(other)},"seed":${seed},"last":${JSON.stringify(other)}}`) === seed,
    ),
  );
  t.equal(
    failure(() => withKey('{"seed":9223372036854775807')),
    'SyntaxError',
  );
  t.equal(
    failure(() => withKey('{"seed":9223372036854775807 1}')),
    'SyntaxError',
  );
});
