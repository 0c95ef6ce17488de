/** Replays responses in the Messages format through the wire, split at every byte. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { MessageStreamDecoder } from '../../src/engines/wires/anthropic/decode-stream.ts';
import { anthropicWire } from '../../src/engines/wires/anthropic/wire.ts';
import { type ApiError, asApiError } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/engines/chat.ts';
import { orLong, someOf } from '../long.ts';
import { sampleCall, sampleModel } from '../samples.ts';
import { borrowed } from './borrowed-buffers.ts';
import { joined, thinker } from './samples.ts';

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/anthropic/${name}`, import.meta.url));

interface Reading {
  readonly parts: Parts;
  readonly failure: ApiError | undefined;
  readonly done: boolean;
}

const read = (pieces: readonly Buffer[], skeletons = true): Reading => {
  const decoder = new MessageStreamDecoder(true, skeletons);
  const parts: Part[] = [];
  for (const piece of borrowed(pieces)) parts.push(...decoder.push(piece));
  const { done } = decoder;
  parts.push(...decoder.end());
  return { parts, failure: decoder.failure, done };
};

/** New ids are random. */
const plain = ({ parts, failure, done }: Reading) => ({
  parts: joined(parts).map((part) =>
    part.type === 'tool-call' ? { ...part, id: part.id.replace(/^call_[\da-f]{24}$/, 'call_new') } : part,
  ),
  failure: failure && [failure.kind, failure.message],
  done,
});

const text = (words: string) => ({ type: 'text', choice: 0, text: words });
const thought = (words: string, signature?: string) => ({
  type: 'reasoning',
  choice: 0,
  text: words,
  ...(signature === undefined ? {} : { signature }),
});
const call = (number: number, id: string, name: string, words?: string) => [
  { type: 'tool-call', choice: 0, call: number, id, name },
  ...(words === undefined ? [] : [{ type: 'tool-arguments', choice: 0, call: number, text: words }]),
];
const finish = (reason: string, native: string, stopSequence?: string) => ({
  type: 'finish',
  choice: 0,
  reason,
  native,
  ...(stopSequence === undefined ? {} : { stopSequence }),
});
const usage = (prompt: number, completion: number, cached = 0, reasoning = 0) => ({
  type: 'usage',
  usage: { prompt, completion, cached, reasoning },
});

interface Expectation {
  readonly parts: readonly unknown[];
  readonly failure?: readonly [string, string];
  /** The stream says itself that it is over. */
  readonly done?: boolean;
}

const signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds+/==';

const streams: Record<string, Expectation> = {
  'anthropic-text.sse': {
    parts: [
      text('Hello, "world"! \\o/\n\nGrüße 👋🏽 漢字\t{"}}  }}} '),
      finish('stop', 'end_turn'),
      usage(1225, 15, 1000),
    ],
  },
  'anthropic-thinking-tools.sse': {
    parts: [
      thought('The user wants two "cities".\n', signature),
      text('Let me look.'),
      ...call(0, 'call_01T1x1fJ34qAmk2tNTrN7Up6', 'get_weather', '{"city": "São Paulo", "note": "a\\"b}"}'),
      ...call(1, 'call_01T1x1fJ34qAmk2tNTrN7Up7', 'get_time', '{}'),
      finish('tool_calls', 'tool_use'),
      usage(25, 15),
    ],
  },
  'anthropic-two-thoughts.sse': {
    parts: [
      thought('One.', 'c2lnMQ=='),
      thought('', 'c2lnMg=='),
      text('Done'),
      finish('stop', 'stop_sequence', '###'),
      usage(25, 15),
    ],
  },
  'anthropic-refusal.sse': { parts: [text('I'), finish('content_filter', 'refusal'), usage(25, 15)] },
  'anthropic-cut-call.sse': {
    parts: [...call(0, 'call_01', 'get_time'), finish('length', 'max_tokens'), usage(25, 15)],
  },
  'anthropic-server-tool.sse': { parts: [text('Found'), finish('stop', 'pause_turn'), usage(25, 15)] },
  'anthropic-overloaded.sse': { parts: [text('Hel')], failure: ['unavailable', 'Overloaded'], done: false },
  'unknown-events.sse': { parts: [text('AB'), finish('stop', 'end_turn'), usage(25, 16)] },
  'ended-early.sse': {
    parts: [text('Hel')],
    failure: ['engine_unreachable', 'The engine ended its answer early'],
    done: false,
  },
  'no-stop-event.sse': { parts: [text('Hello'), finish('stop', 'end_turn'), usage(25, 15)], done: false },
  'malformed.sse': {
    parts: [text('Hel')],
    failure: ['engine_unreachable', 'The engine sent an answer that cannot be read'],
    done: false,
  },
  'openai-end.sse': { parts: [text('Hello'), finish('stop', 'end_turn'), usage(25, 15)] },
  'vllm-thinking-tools.sse': {
    parts: [
      thought('\nHm.\n', '0af1b2c3'),
      ...call(0, 'call_new', 'get_weather', '{"city": "Oslo"}'),
      ...call(1, 'call_new', 'get_weather', '{"city": "Rom"}'),
      finish('tool_calls', 'tool_use'),
      usage(120, 40),
    ],
  },
  'vllm-stopped.sse': {
    parts: [text('kIt')],
    failure: ['engine_unreachable', 'The engine ended its answer early'],
  },
  'vllm-think-tags.sse': {
    parts: [thought('Hm.'), text('Four.'), finish('stop', 'end_turn'), usage(120, 40)],
  },
  'sglang-text-in-call.sse': {
    parts: [...call(0, 'call_5', 'get_time', '{"zone":"UTC"}'), text('\n'), finish('tool_calls', 'end_turn')],
  },
  'llama-cpp-recorded-text.sse': {
    parts: [text('5|r5NNNN'), finish('length', 'max_tokens'), usage(30, 8, 29)],
  },
  'llama-cpp-recorded-stop.sse': {
    parts: [text('5|r5'), finish('stop', 'end_turn', 'NN'), usage(30, 6, 29)],
  },
};

for (const [name, { parts, failure, done = true }] of Object.entries(streams)) {
  t.test(name, async (t) => {
    const bytes = fixture(name);
    const expected = { parts, failure, done };
    t.strictSame(plain(read([bytes])), expected);
    t.strictSame(plain(read([bytes], false)), expected, 'every event parsed');
    for (const cut of someOf([...bytes.keys()].slice(1), 60)) {
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
      const found = plain(read(pieces));
      if (JSON.stringify(found) !== JSON.stringify(plain(read([bytes]))))
        t.strictSame(found, expected, `cut at byte ${cut}`);
    }
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    t.strictSame(plain(read(single)), expected, 'byte by byte');
  });
}

t.test('whole messages', async (t) => {
  const decode = (body: string | Buffer) =>
    plain({
      parts: anthropicWire.chat.decodeWhole(thinker, sampleCall(), Buffer.from(body)),
      failure: undefined,
      done: true,
    }).parts;
  t.strictSame(decode(fixture('anthropic-whole.json')), [
    thought('Hm "x"', 'c2ln'),
    text('Grüße 👋\n'),
    ...call(0, 'call_01A', 'get_weather', '{"city":"Oslo","days":[1,2]}'),
    ...call(1, 'call_new', 'get_time', '{}'),
    finish('tool_calls', 'tool_use'),
    usage(125, 40, 100, 12),
  ]);
  t.strictSame(decode(fixture('llama-cpp-recorded-whole.json')), [
    text('5|r5'),
    finish('stop', 'end_turn', 'NN'),
    usage(30, 6, 29),
  ]);
  t.strictSame(
    decode('{"content":[],"stop_reason":"end_turn","usage":null}'),
    [finish('stop', 'end_turn')],
    'an empty answer is one',
  );
  const failures: readonly [string | Buffer, string, string][] = [
    [fixture('anthropic-whole-error.json'), 'unavailable', 'Overloaded'],
    ['{"type":"error"}', 'engine_unreachable', 'The engine reported an error'],
    ['{"content":[{"type":"text","text":"kIt"}]}', 'engine_unreachable', 'The engine ended its answer early'],
    ['{"stop_reason":"end_turn"}', 'engine_unreachable', 'The engine sent an answer that cannot be read'],
    ['<html>', 'engine_unreachable', 'The engine sent an answer that cannot be read'],
    ['[]', 'engine_unreachable', 'The engine sent an answer that cannot be read'],
  ];
  for (const [body, kind, message] of failures) {
    try {
      decode(body);
      t.fail(`${body}`);
    } catch (error) {
      t.match(asApiError(error), { kind, message });
    }
  }
});

const event = (json: string): string => `data: ${json.replaceAll(/[\r\n]/g, ' ')}\n\n`;
const started = event('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}');
const ending = event('{"type":"message_delta","delta":{"stop_reason":"end_turn"}}');

t.test('deltas read the same with and without skeletons, however they are laid out', async (t) => {
  const layouts: readonly ((json: string) => string)[] = [
    (json) => `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${json}}}`,
    (json) => `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${json}}    }`,
    (json) => `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${json} } }  `,
    (json) => `{"type":"content_block_delta","delta":{"type":"text_delta","text":${json}},"index":0}`,
    (json) => `{"delta":{"text":${json},"type":"text_delta"},"index":0,"type":"content_block_delta"}`,
    (json) => `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":${json}}}`,
    (json) => `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${json}}}}`,
    (json) => `{"type":"content_block_delta","index":0,"delta":{"type":"other","text":${json}}}`,
  ];
  const words = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom(
      '',
      '"',
      '\\',
      '"}}',
      '\\"}}',
      '}} ',
      '","type":"x',
      'text goes here',
      '\ud83d',
      '\u00a0',
    ),
  );
  const list = fc.array(fc.tuple(words, fc.nat(layouts.length - 1)), { maxLength: 10 });
  fc.assert(
    fc.property(list, fc.array(fc.nat(2000), { maxLength: 6 }), (events, cuts) => {
      const stream = events.map(([word, layout]) => event(layouts[layout]?.(JSON.stringify(word)) ?? ''));
      const bytes = Buffer.from(`${started}${stream.join('')}${ending}`);
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
        bytes.length,
      ];
      const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      const parsed = JSON.stringify(plain(read([bytes], false)));
      return (
        JSON.stringify(plain(read([bytes]))) === parsed && JSON.stringify(plain(read(pieces))) === parsed
      );
    }),
    { numRuns: orLong(300, 1500) },
  );
  t.pass('agreed');
});

t.test('most tokens of a stream are never parsed', async (t) => {
  const decoder = new MessageStreamDecoder(false);
  const parse = JSON.parse;
  let parses = 0;
  decoder.push(Buffer.from(started));
  JSON.parse = (json: string) => {
    parses++;
    return parse(json);
  };
  try {
    for (let index = 0; index < 100; index++) {
      const padding = ' '.repeat(index % 7);
      const delta = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"t${index}"}${padding}}`;
      decoder.push(Buffer.from(event(delta)));
    }
  } finally {
    JSON.parse = parse;
  }
  t.equal(parses, 2, 'one to read the first delta, one to prove its skeleton');
});

t.test('garbage and bounds', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (list) => {
      const { failure } = read(list.map((piece) => Buffer.from(piece)));
      return failure?.kind === 'engine_unreachable';
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.json(), { maxLength: 40 }), (list) => {
      read([Buffer.from(list.map(event).join(''))]);
      return true;
    }),
  );
  const failureOf = (...events: readonly object[]) => {
    const { failure } = read(events.map((value) => Buffer.from(event(JSON.stringify(value)))));
    return failure?.message;
  };
  const block = (index: number, content_block: object) => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const delta = (index: number, value: object) => ({ type: 'content_block_delta', index, delta: value });
  const tool = (name: string) => ({ type: 'tool_use', id: 'toolu_1', name, input: {} });
  const words = { type: 'input_json_delta', partial_json: '{}' };
  const disorder = 'The engine sent its answer in an order that makes no sense';
  t.equal(failureOf(block(0, tool('f')), block(1, tool('f')), delta(0, words)), disorder);
  t.equal(failureOf(delta(0, words)), disorder);
  t.equal(failureOf(block(0, { type: 'text', text: '' }), delta(0, words)), disorder);
  t.equal(failureOf(block(0, tool(''))), 'The engine sent an answer that cannot be read');
  const many = Array.from({ length: 129 }, (_, index) => block(index, tool('f')));
  t.equal(failureOf(...many), 'The engine called too many tools');
  const long = { type: 'signature_delta', signature: 'x'.repeat(1 << 20) };
  t.equal(
    failureOf(
      block(0, { type: 'thinking', thinking: '' }),
      ...Array.from({ length: 5 }, () => delta(0, long)),
    ),
    'The engine sent a signature that is too long',
  );
  t.equal(failureOf({ type: 'error' }), 'The engine reported an error');
});

t.test('headers and error responses', async (t) => {
  t.strictSame(anthropicWire.headers('secret'), { 'anthropic-version': '2023-06-01', 'x-api-key': 'secret' });
  t.strictSame(anthropicWire.headers(undefined), { 'anthropic-version': '2023-06-01' });
  const error = (message: string) =>
    JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } });
  t.strictSame(anthropicWire.readError(400, error('messages: too few')), {
    status: 400,
    message: 'messages: too few',
  });
  t.match(anthropicWire.readError(400, error('Your credit balance is too low to access the API.')), {
    status: 402,
  });
  t.match(anthropicWire.readError(500, error('the prompt is too long: 9 tokens > 8 maximum')), {
    status: 400,
  });
  t.strictSame(anthropicWire.readError(502, '<html>'), { status: 502, message: undefined });
  const over =
    'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length';
  t.strictSame(anthropicWire.chat.readContextFull(over), {
    prompt: 178_959,
    window: 200_000,
    maximum: undefined,
  });
  t.strictSame(anthropicWire.chat.readContextFull('prompt is too long: 210000 tokens > 200000 maximum'), {
    prompt: 210_000,
    window: undefined,
    maximum: 200_000,
  });
});

t.test('a model without reasoning keeps think tags in its text', async (t) => {
  const decoder = anthropicWire.chat.decodeStream(sampleModel());
  t.match(joined(decoder.push(fixture('vllm-think-tags.sse'))), [
    text('<think>\nHm.\n</think>\n\nFour.'),
    { type: 'finish' },
    { type: 'usage' },
  ]);
});

t.test('an event that cannot be read, or has another shape, fails the call', async (t) => {
  const frame = (value: unknown): string =>
    `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
  const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
  const delta = (change: unknown) => ({ type: 'content_block_delta', index: 0, delta: change });
  const words = (one: unknown) => delta({ type: 'text_delta', text: one });
  const stop = [
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ];
  const around = (between: string): Buffer =>
    Buffer.from(
      [start, words('one '), words('and ')].map(frame).join('') +
        between +
        [words('three'), ...stop].map(frame).join(''),
    );
  const holes: readonly unknown[] = [
    '{"type":"content_block_del',
    'ping',
    '17',
    '[]',
    {},
    { type: 7 },
    delta(undefined),
    delta('two'),
    words(2),
    words(undefined),
    delta({ type: 'thinking_delta', thinking: ['two'] }),
    delta({ type: 'input_json_delta', partial_json: {} }),
    { type: 'content_block_start', index: 1, content_block: 'two' },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 2 } },
    { type: 'message_delta', delta: 'end_turn' },
  ];
  for (const hole of holes)
    for (const skeletons of [true, false]) {
      const { parts, failure } = read([around(frame(hole))], skeletons);
      t.strictSame(joined(parts), [text('one and ')], JSON.stringify(hole));
      t.equal(failure?.message, 'The engine sent an answer that cannot be read');
    }
  const harmless = [
    ': comment\n\n',
    frame({ type: 'ping' }),
    'event: ping\ndata: not even JSON\n\n',
    frame({ type: 'new_event', of: 'the future' }),
    frame(delta({ type: 'citations_delta', citation: {} })),
  ];
  for (const line of harmless) {
    const { parts, failure } = read([around(line)]);
    t.strictSame([joined(parts)[0], failure], [text('one and three'), undefined], line);
  }
  const [stopped, finished] = stop;
  const brokenOff = Buffer.from(
    `${[start, words('one'), stopped, finished].map(frame).join('')}data: {"type":"mess`,
  );
  t.equal(read([brokenOff]).failure, undefined, 'what ended before the connection broke has ended');
});
