/** A whole answer is read around its text. Whatever the text and wherever it stands, the parts are those of the parsed answer. */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import t from 'tap';
import { Answer } from '../../src/engines/wires/openai/answer.ts';
import { decodeWhole } from '../../src/engines/wires/openai/decode-whole.ts';
import { fromJsonText, type Part, type Parts } from '../../src/ports/chat.ts';

const options = { choices: 2, thinks: true, newCallId: () => 'call_ours' };

/** Text as people read it: two ways to escape it are one text. */
const read = (parts: Parts) =>
  parts.map((part: Part) => ('text' in part ? { ...part, text: fromJsonText(part.text) } : part));

const parsedParts = (body: string): Parts => {
  const answer = new Answer(options);
  answer.push(JSON.parse(body));
  answer.end(true);
  return answer.take();
};

const asAscii = (json: string): string =>
  json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

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

t.test('the parts are those of the parsed answer', async (t) => {
  fc.assert(
    fc.property(answers, fc.boolean(), fc.constantFrom(undefined, 1), (answer, ascii, space) => {
      const json = JSON.stringify(answer, undefined, space);
      // Bytes cannot have half a character; escapes can.
      const body = ascii ? asAscii(json) : Buffer.from(json).toString();
      return isDeepStrictEqual(read(decodeWhole(Buffer.from(body), options)), read(parsedParts(body)));
    }),
    { numRuns: 500, endOnFailure: true },
  );
  t.pass('agreed');
});

t.test('a text that is no JSON makes no answer', async (t) => {
  const body = (text: string) => Buffer.from(`{"choices":[{"message":{"content":"${text}"}}]}`, 'latin1');
  for (const text of ['\n', '\\x', '\\', '\\u12', '\\u12g4', 'a"b', '\\\\\\q', '\u0000']) {
    t.throws(
      () => decodeWhole(body(text), options),
      { message: 'The engine sent an answer that cannot be read' },
      text,
    );
  }
  t.strictSame(
    read(decodeWhole(body('\\\\q\\u0041\xff'), options)).slice(0, 1),
    [{ type: 'text', choice: 0, text: '\\qA\ufffd' }],
    'bytes that are no character are read as such',
  );
});
