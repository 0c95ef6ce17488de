/** Tests that the fast decoder of whole responses gives the same parts as JSON parsing. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import t from 'tap';
import { WholeDecoder } from '../../src/engines/wires/openai/decode-whole.ts';
import { type AnswerOptions, ResponseDecoder } from '../../src/engines/wires/openai/response-decoder.ts';
import type { Parts } from '../../src/ports/engines/chat.ts';
import { readable } from './samples.ts';

/** The memory of the body is somebody else's once it was decoded. */
const decodeLent = (decoder: WholeDecoder, body: Buffer, use: AnswerOptions): Parts => {
  const lent = Buffer.from(body);
  const parts = decoder.decode(lent, use);
  lent.fill('#');
  return parts;
};
const decodeWhole = (body: Buffer, use: AnswerOptions): Parts => decodeLent(new WholeDecoder(), body, use);
const thinking = { choices: 2, thinks: true, newCallId: () => 'call_ours' };
const plain = { ...thinking, thinks: false };
const options = thinking;

const parsedParts = (body: string, options: AnswerOptions): Parts => {
  const answer = new ResponseDecoder(options);
  answer.push(JSON.parse(body));
  answer.end(true);
  if (answer.failure !== undefined) throw answer.failure;
  return answer.take();
};

const asAscii = (json: string): string =>
  json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const ways = fc.constantFrom(thinking, plain);

const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '\n', 'u00e9', '水', '\ud800', '<think>', '</think>', ' the'),
  }),
  fc.constantFrom('', '"content":"', '\\"content":"x"', '\\\\'),
);

const toolCalls = fc.array(
  fc.record({
    id: words,
    type: fc.constant('function'),
    function: fc.record({
      name: fc.constantFrom('add', 'now'),
      arguments: fc.oneof(words, fc.record({ content: words })),
    }),
  }),
  { maxLength: 2 },
);

const choice = (index: number) =>
  fc.record(
    {
      index: fc.constant(index),
      debug: fc.record({ content: words }),
      message: fc.record(
        { reasoning_content: words, content: fc.oneof(words, fc.constant(null)), tool_calls: toolCalls },
        { requiredKeys: ['content'] },
      ),
      finish_reason: fc.constantFrom('stop', 'length', null),
      stop_reason: fc.oneof(words, fc.constant(null)),
    },
    { requiredKeys: ['index', 'message', 'finish_reason'] },
  );

const answers = fc.record({
  id: words,
  choices: fc.oneof(fc.tuple(choice(0)), fc.tuple(choice(0), choice(1)), fc.tuple(choice(1), choice(0))),
  usage: fc.constant({ prompt_tokens: 3, completion_tokens: 4 }),
});

t.test('the parts equal those of the parsed response', async (t) => {
  fc.assert(
    fc.property(
      answers,
      ways,
      fc.boolean(),
      fc.constantFrom(undefined, 1),
      (answer, options, ascii, space) => {
        const json = JSON.stringify(answer, undefined, space);
        // Bytes cannot have half a character; escapes can.
        const body = ascii ? asAscii(json) : Buffer.from(json).toString();
        return isDeepStrictEqual(
          readable(decodeWhole(Buffer.from(body), options)),
          readable(parsedParts(body, options)),
        );
      },
    ),
    { numRuns: 500, endOnFailure: true },
  );
  t.pass('agreed');
});

const numbers = fc.oneof(
  { weight: 9, arbitrary: fc.nat({ max: 9999 }).map(String) },
  fc.constantFrom(
    '0',
    '00',
    '01',
    '-1',
    '1.5',
    '1e3',
    '999999999999999',
    '1234567890123456',
    '',
    '1 ',
    'null',
    '"7"',
  ),
);

/** As servers write them, of few shapes, with something in the place of every value. */
const served = fc
  .record({
    id: fc.oneof(fc.stringMatching(/^[\w-]{0,12}$/), fc.constantFrom('a\\"b', 'a"b', '\u00e9')),
    created: numbers,
    index: fc.oneof(
      { weight: 9, arbitrary: fc.constant('"index":0') },
      fc.constantFrom('"index":1', '"index":2', '"\\u0069ndex":0', '"\\u0069ndex":1'),
    ),
    content: fc.oneof(
      words.map((text) => JSON.stringify(text)),
      fc.constantFrom('"\\x"', '"a\nb"', 'null', '""', '"\\u00e9 \\" \\\\"'),
    ),
    finish: fc.constantFrom('"stop"', '"length"', 'null'),
    prompt: numbers,
    completion: numbers,
    twice: fc.nat({ max: 9 }).map((number) => number === 9),
  })
  .map(
    ({ id, created, index, content, finish, prompt, completion, twice }) =>
      `{"id":"${id}","created":${created},"choices":[{${index},"message":{"role":"assistant","content":${content},"tool_calls":[]},` +
      `"finish_reason":${finish}}],"usage":{"prompt_tokens":${prompt},"completion_tokens":${completion}` +
      `${twice ? ',"prompt_tokens":5' : ''}}}`,
  );

const partsOrNone = (decode: () => Parts): Parts | undefined => {
  try {
    return decode();
  } catch {
    return undefined;
  }
};

t.test('one decoder reads the responses of many servers', async (t) => {
  const { parse } = JSON;
  let known = 0;
  fc.assert(
    fc.property(fc.array(served, { minLength: 20, maxLength: 40 }), ways, (bodies, options) => {
      const decoder = new WholeDecoder();
      return bodies.every((body) => {
        const bytes = Buffer.from(body);
        let parsed = false;
        JSON.parse = (json: string) => {
          parsed = true;
          return parse(json);
        };
        const decoded = partsOrNone(() => decodeLent(decoder, bytes, options));
        JSON.parse = parse;
        if (decoded !== undefined && !parsed) known++;
        const expected = partsOrNone(() => parsedParts(bytes.toString(), options));
        return isDeepStrictEqual(decoded && readable(decoded), expected && readable(expected));
      });
    }),
    { numRuns: 200, endOnFailure: true },
  );
  t.ok(known > 100, `${known} were never parsed`);
});

t.test('unknown fields beside the response are ignored', async (t) => {
  const deep = `${'['.repeat(1900)}${']'.repeat(1900)}`;
  const body = `{"x":${deep},"__proto__":5,"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`;
  const decoder = new WholeDecoder();
  for (let turn = 0; turn < 2; turn++)
    t.strictSame(readable(decoder.decode(Buffer.from(body), options)), readable(parsedParts(body, options)));
});

t.test('text that is not JSON gives no response', async (t) => {
  const body = (text: string) => Buffer.from(`{"choices":[{"message":{"content":"${text}"}}]}`, 'latin1');
  for (const text of ['\n', '\\x', '\\', '\\u12', '\\u12g4', 'a"b', '\\\\\\q', '\u0000']) {
    t.throws(
      () => decodeWhole(body(text), options),
      { message: 'The engine sent an answer that cannot be read' },
      text,
    );
  }
  for (const way of [thinking, plain])
    t.strictSame(
      readable(decodeWhole(body('\\\\q\\u0041\xff'), way)).slice(0, 1),
      [{ type: 'text', choice: 0, text: '\\qA\ufffd' }],
      'bytes that are no character are read as such',
    );
});
