/** Tests the OpenAI wire: fixtures split at every byte decode alike on both code paths. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { OpenAiStreamDecoder } from '../../src/engines/wires/openai/decode-stream.ts';
import { WholeDecoder } from '../../src/engines/wires/openai/decode-whole.ts';
import type { AnswerOptions } from '../../src/engines/wires/openai/response-decoder.ts';
import { openAiWire } from '../../src/engines/wires/openai/wire.ts';
import { isJsonText } from '../../src/engines/wires/shared/json-text.ts';
import { errorMessage } from '../../src/engines/wires/shared/reported-error.ts';
import { type ApiError, asApiError } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/engines/chat.ts';
import { orLong, someOf } from '../long.ts';
import { sampleCall, sampleModel } from '../samples.ts';
import { borrowed } from './borrowed-buffers.ts';
import { joined, readable, thinker } from './samples.ts';

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/openai/${name}`, import.meta.url));

const thrown = (run: () => unknown): ApiError | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return asApiError(error);
  }
};

interface Reading {
  readonly parts: Parts;
  readonly failure: ApiError | undefined;
}

/** Call ids are counted up, so that two readings can be compared. */
const options = (skeletons: boolean, choices: number) => {
  let ids = 0;
  return { choices, thinks: true, skeletons, newCallId: () => `call_ours${ids++}` };
};

const read = (pieces: readonly Buffer[], skeletons = true, choices = 1): Reading => {
  const decoder = new OpenAiStreamDecoder(options(skeletons, choices));
  const parts: Part[] = [];
  for (const piece of borrowed(pieces)) parts.push(...decoder.push(piece));
  parts.push(...decoder.end());
  return { parts, failure: decoder.failure };
};

const plain = ({ parts, failure }: Reading) => ({
  parts: readable(parts),
  failure: failure && [failure.kind, failure.message],
});

const text = (words: string, choice = 0) => ({ type: 'text', choice, text: words });
const reasoning = (words: string) => ({ type: 'reasoning', choice: 0, text: words });
const call = (number: number, id: string, name: string, words: string) => [
  { type: 'tool-call', choice: 0, call: number, id, name },
  { type: 'tool-arguments', choice: 0, call: number, text: words },
];
const finish = (reason: string, native: string | null, choice = 0, stopSequence?: string) => ({
  type: 'finish',
  choice,
  reason,
  native,
  ...(stopSequence === undefined ? {} : { stopSequence }),
});
const usage = (prompt: number, completion: number, cached = 0, thought = 0) => ({
  type: 'usage',
  usage: { prompt, completion, cached, reasoning: thought },
});
const token = (word: string, logprob: number) => ({
  token: word,
  logprob,
  bytes: [...Buffer.from(word)],
  top_logprobs: [
    { token: word, logprob, bytes: [...Buffer.from(word)] },
    { token: 'x', logprob: -3.5, bytes: null },
  ],
});
/** Beside the token that would have been next best. */
const likely = (word: string, logprob: number, other: string, otherLogprob: number) => ({
  token: word,
  logprob,
  bytes: [...Buffer.from(word)],
  top_logprobs: [
    { token: word, logprob, bytes: [...Buffer.from(word)] },
    { token: other, logprob: otherLogprob, bytes: [...Buffer.from(other)] },
  ],
});

interface Expectation {
  readonly parts: readonly unknown[];
  readonly failure?: readonly [string, string];
}

const streams: Record<string, Expectation> = {
  'vllm-text.sse': {
    parts: [text('Hello, "world"! \\o/\n\nGrüße 👋🏽 漢字\t{}'), finish('stop', 'stop'), usage(9, 10)],
  },
  'vllm-reasoning.sse': {
    parts: [
      reasoning("The user's question is <b>easy</b>.\n"),
      text('\n\nFour.'),
      finish('length', 'length'),
      usage(31, 10, 16),
    ],
  },
  'vllm-tools.sse': {
    parts: [
      text('Let me look.'),
      ...call(0, 'call_ours0', 'get_weather', '{"city": "São Paulo"}'),
      ...call(1, 'call_ours1', 'get_time', '{"zone": "a\\\\"b}"}'),
      finish('tool_calls', 'tool_calls'),
      usage(120, 40),
    ],
  },
  'vllm-n2-usage-everywhere.sse': {
    parts: [
      text('One'),
      text('Uno', 1),
      text(' two'),
      text(' dos', 1),
      finish('stop', 'stop', 1, '###'),
      text(' three'),
      finish('length', 'length'),
      usage(5, 6),
    ],
  },
  'vllm-bare-error.sse': {
    parts: [],
    failure: [
      'invalid_request',
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    ],
  },
  'vllm-recorded-text.sse': {
    parts: [text('Hello, world! Grüße 👋'), finish('stop', 'stop'), usage(24, 18)],
  },
  'vllm-recorded-reasoning.sse': {
    parts: [
      reasoning('\nA greeting.\n'),
      text('\n\nHello, world! Grüße 👋'),
      finish('stop', 'stop'),
      usage(18, 30, 0, 8),
    ],
  },
  'vllm-recorded-tools.sse': {
    parts: [
      reasoning('\nTwo calls.\n'),
      text('\n\nLet me look.\n'),
      ...call(0, 'call_ours0', 'get_weather', '{"city": "Ghent"}'),
      ...call(1, 'call_ours1', 'now', '{}'),
      finish('tool_calls', 'tool_calls'),
      usage(262, 61, 0, 7),
    ],
  },
  'vllm-recorded-named-tool.sse': {
    parts: [
      ...call(0, 'call_ours0', 'get_weather', '{"city": "Ghent"}'),
      finish('tool_calls', 'stop'),
      usage(266, 22, 256),
    ],
  },
  // Text waits until it is sure to be no stop sequence; the log-probabilities of its tokens do not.
  'vllm-recorded-logprobs.sse': {
    parts: [
      {
        ...text('on'),
        logprobs: [
          likely('o', -0.0013954435708001256, '\n', -8.753775596618652),
          likely('ne', -0.0004285847535356879, '', -9.42699146270752),
          likely(' two', -0.0007339406292885542, 'C', -9.54369068145752),
        ],
      },
      { ...text('e two'), logprobs: [likely(' three', -0.0005031750188209116, 't', -9.886131286621094)] },
      finish('stop', 'stop', 0, ' three'),
      usage(27, 4),
    ],
  },
  'vllm-recorded-stopped.sse': {
    parts: [text('kItptTellour  b\ufffdater|u.\nTella')],
    failure: ['engine_unreachable', 'The engine broke off its answer'],
  },
  'sglang-reasoning.sse': {
    parts: [reasoning('2+2=4'), text('It is **4**.'), finish('stop', 'stop'), usage(21, 10, 20, 5)],
  },
  'sglang-recorded-reasoning.sse': {
    parts: [
      reasoning('\nA greeting.\n'),
      text('\n\nHello, world! Grüße 👋'),
      finish('stop', 'stop'),
      usage(18, 30, 17, 10),
    ],
  },
  'sglang-recorded-stop-string.sse': {
    parts: [text('one two three four'), finish('stop', 'stop', 0, ' five'), usage(27, 13, 26)],
  },
  'sglang-stop-string.sse': { parts: [text('ab'), finish('stop', 'stop', 0, 'END'), usage(3, 2)] },
  'sglang-tools.sse': {
    parts: [...call(0, 'call_ours0', 'search', '{"q": "sluice"}'), finish('tool_calls', 'tool_calls')],
  },
  'sglang-error.sse': {
    parts: [],
    failure: [
      'invalid_request',
      "Requested token count exceeds the model's maximum context length of 196608 tokens.",
    ],
  },
  'llama-cpp.sse': {
    parts: [text('The sky is blue… \u2028end'), finish('stop', 'stop'), usage(43, 6)],
  },
  'llama-cpp-logprobs.sse': {
    parts: [
      { ...text('Hi'), logprobs: [token('Hi', -0.25)] },
      { ...text('!'), logprobs: [token('?', -1), token('!', -0.5)] },
      finish('stop', 'stop'),
      usage(4, 3),
    ],
  },
  'llama-cpp-think.sse': {
    parts: [reasoning('So a<b and'), text('Done: </think> stays'), finish('stop', 'stop'), usage(43, 13)],
  },
  'tgi.sse': { parts: [text('Deep learning is fun'), finish('stop', 'eos_token'), usage(12, 5)] },
  'tgi-tools.sse': {
    parts: [
      ...call(0, 'call_ours0', 'get_current_weather', '{"location": "Rome"}'),
      finish('tool_calls', 'eos_token'),
    ],
  },
  'tgi-overloaded.sse': { parts: [text('Deep')], failure: ['unavailable', 'Model is overloaded'] },
  'ollama-think-tags.sse': {
    parts: [reasoning('Compare </x & y'), text('x < y'), finish('stop', 'stop'), usage(26, 11)],
  },
  'ollama-reasoning.sse': {
    parts: [reasoning('So a<b & two.\n'), text("Fourteen's “é” 👋."), finish('stop', 'stop'), usage(28, 12)],
  },
  'ollama-recorded-tools.sse': {
    parts: [
      ...call(0, 'call_u413j3cl', 'add', '{"a":1,"b":[2,"x\\u003cy"]}'),
      ...call(1, 'call_jbp7e9px', 'now', '{}'),
      finish('tool_calls', 'tool_calls'),
      usage(193, 7),
    ],
  },
  'ollama-recorded-logprobs.sse': {
    parts: [
      reasoning('So a<b & two.\n'),
      {
        ...text('Four'),
        logprobs: [
          {
            token: 'Four',
            logprob: -1.909139513145419e-12,
            bytes: [...Buffer.from('Four')],
            top_logprobs: [
              { token: 'Four', logprob: -1.909139513145419e-12, bytes: [...Buffer.from('Four')] },
              { token: 'tee', logprob: -29.74289894104004, bytes: [...Buffer.from('tee')] },
            ],
          },
        ],
      },
      {
        ...text('tee'),
        logprobs: [
          {
            token: 'tee',
            logprob: -2.106537166923772e-12,
            bytes: [...Buffer.from('tee')],
            top_logprobs: [
              { token: 'tee', logprob: -2.106537166923772e-12, bytes: [...Buffer.from('tee')] },
              { token: 'Four', logprob: -29.593069076538086, bytes: [...Buffer.from('Four')] },
            ],
          },
        ],
      },
      {
        ...text("n's"),
        logprobs: [
          {
            token: "n's",
            logprob: -1.3131717935266352e-12,
            bytes: [...Buffer.from("n's")],
            top_logprobs: [
              { token: "n's", logprob: -1.3131717935266352e-12, bytes: [...Buffer.from("n's")] },
              { token: '<|im_end|>', logprob: -29.530927658081055, bytes: [...Buffer.from('<|im_end|>')] },
            ],
          },
        ],
      },
      finish('length', 'length'),
      usage(28, 9),
    ],
  },
  'ollama-recorded-died.sse': {
    parts: [text("s[Ctsx]E'Hy)z73i is4eUpv{")],
    failure: ['engine_unreachable', 'The engine ended its answer early'],
  },
  'ollama-tools.sse': {
    parts: [
      ...call(0, 'call_7y9k2m1q', 'add', '{"a":1,"b":2}'),
      ...call(1, 'call_p0d8s3ab', 'add', '{"a":3,"b":4}'),
      finish('tool_calls', 'tool_calls'),
      usage(180, 40),
    ],
  },
  'ollama-tools-no-index.sse': {
    parts: [
      ...call(0, 'call_ours0', 'add', '{"a":1}'),
      ...call(1, 'call_ours1', 'now', '{}'),
      finish('tool_calls', 'stop'),
    ],
  },
  'openai.sse': { parts: [text('How can I help?'), finish('stop', 'stop'), usage(8, 6)] },
  'openai-refusal.sse': {
    parts: [text("I'm sorry."), finish('content_filter', 'content_filter'), usage(8, 4)],
  },
  'openai-parallel-tools.sse': {
    parts: [
      ...call(0, 'call_Zk1aA', 'first', '{"x":1}'),
      ...call(1, 'call_Zk1bB', 'second', '{}'),
      finish('tool_calls', 'tool_calls'),
    ],
  },
  'legacy-function-call.sse': {
    parts: [...call(0, 'call_ours0', 'lookup', '{"k":"v"}'), finish('tool_calls', 'function_call')],
  },
  'interleaved-tools.sse': {
    parts: [
      ...call(0, 'call_ours0', 'left', '{"l":1}'),
      ...call(1, 'call_ours1', 'right', '{"r":[1,"}"]}'),
      ...call(2, 'call_ours2', 'noop', '{}'),
      finish('tool_calls', 'tool_calls'),
    ],
  },
  'sluice.sse': {
    parts: [reasoning('Hm…'), text('Yes, of course'), finish('stop', 'stop'), usage(7, 6, 4, 2)],
  },
  'sluice-failure.sse': { parts: [text('Half')], failure: ['unavailable', 'The model is busy, try again'] },
  'odd-lines.sse': { parts: [text('äö€two lines'), finish('stop', 'stop')] },
  'malformed.sse': {
    parts: [text('one ')],
    failure: ['engine_unreachable', 'The engine sent an answer that cannot be read'],
  },
  'no-object.sse': {
    parts: [text('one ')],
    failure: ['engine_unreachable', 'The engine sent an answer that cannot be read'],
  },
  'broken-off-usage.sse': { parts: [text('one three'), finish('stop', 'stop')] },
  'ended-early.sse': {
    parts: [text('Half a sen')],
    failure: ['engine_unreachable', 'The engine ended its answer early'],
  },
  'done-without-finish.sse': { parts: [text('All of it'), finish('stop', null)] },
  'aborted.sse': {
    parts: [text('Stopped')],
    failure: ['engine_unreachable', 'The engine broke off its answer'],
  },
  'spaced-json.sse': { parts: [text('é"q"😀text goes hereend'), finish('length', 'max_tokens')] },
};

t.test('every fixture, split at every byte, parsed and by skeletons', async (t) => {
  for (const [name, expected] of Object.entries(streams)) {
    const bytes = fixture(name);
    const choices = name.includes('n2') ? 2 : 1;
    const whole = read([bytes], true, choices);
    t.strictSame(
      { parts: joined(whole.parts), failure: plain(whole).failure },
      { parts: expected.parts, failure: expected.failure },
      name,
    );
    const reference = JSON.stringify(plain(whole));
    const same = (pieces: readonly Buffer[], skeletons: boolean): boolean =>
      JSON.stringify(plain(read(pieces, skeletons, choices))) === reference;
    const different: number[] = [];
    const places = someOf([...bytes.keys(), bytes.length], 60);
    for (const [index, at] of places.entries())
      if (!same([bytes.subarray(0, at), bytes.subarray(at)], index % 2 === 0)) different.push(at);
    t.strictSame(different, [], `${name} cut in two`);
    const single = [...bytes].map((byte) => Buffer.from([byte]));
    t.ok(same(single, true) && same(single, false), `${name} byte by byte`);
  }
});

t.test('any text in any layout: skeletons and parsing agree', async (t) => {
  const layouts: readonly ((json: string) => string)[] = [
    (json) => `{"id":"c","choices":[{"index":0,"delta":{"content":${json}},"finish_reason":null}]}`,
    (json) => `{"choices":[{"delta":{"reasoning_content":${json},"content":null},"index":0}],"usage":null}`,
    (json) => `{"choices": [{"delta": {"content": "", "reasoning": ${json}}, "index": 0}]}`,
    (json) => `{"choices":[{"index":1,"delta":{"content":${json}}}]}`,
    (json) => `{"content":"a","choices":[{"index":0,"delta":{"content":"x","content":${json}}}]}`,
    (json) => `{"k\\"content":"v","choices":[{"delta":{"role":"assistant","content":${json}}}]}`,
    (json) => `{"choices":[{"delta":{"content":${json}}}],"n":{"content":"text goes here"}}`,
  ];
  const escapings: readonly ((words: string) => string)[] = [
    (words) => JSON.stringify(words),
    (words) => `"${[...words].map((unit) => escapeAll(unit)).join('')}"`,
    (words) => JSON.stringify(words).replaceAll('/', '\\/'),
    // No JSON: a failure to both.
    (words) => `"${words}`,
    (words) => `"${words}\\"`,
    (words) => `"${words}\u0001"`,
  ];
  const words = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom(
      '',
      '"',
      '\\',
      '","finish_reason":"stop',
      '<think>',
      '</think>',
      '</',
      '\u00a0',
      ' ',
      'text goes here',
      '\ud83d',
    ),
  );
  const events = fc.array(
    fc.tuple(words, fc.nat(escapings.length - 1), fc.integer({ min: 0, max: layouts.length - 1 })),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(events, fc.boolean(), fc.array(fc.nat(2000), { maxLength: 6 }), (list, thinking, cuts) => {
      const stream = list.map(([word, escaping, layout]) =>
        event(layouts[layout]?.(escapings[escaping]?.(word) ?? '') ?? ''),
      );
      if (thinking) stream.unshift(event(layouts[0]?.('"<think>"') ?? ''));
      const bytes = Buffer.from(`${stream.join('')}data: [DONE]\n\n`);
      const parsed = JSON.stringify(plain(read([bytes], false, 2)));
      return (
        JSON.stringify(plain(read([bytes], true, 2))) === parsed &&
        JSON.stringify(plain(read(pieces(bytes, cuts), true, 2))) === parsed
      );
    }),
    { numRuns: orLong(300, 1500) },
  );
  t.pass('agreed');
});

const event = (json: string): string => `data: ${json.replaceAll(/[\r\n]/g, ' ')}\n\n`;

const escapeAll = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

const pieces = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
};

t.test('a segment is JSON text exactly when JSON.parse accepts it', async (t) => {
  const units = fc.constantFrom(
    'a',
    'é',
    '"',
    '\\',
    '\\n',
    '\\u00e9',
    '\\u00g0',
    '\\x',
    '\n',
    '\u007f',
    '😀',
    'a long one '.repeat(12),
  );
  fc.assert(
    fc.property(fc.array(units, { maxLength: 8 }), (list) => {
      const body = list.join('');
      let valid = true;
      try {
        valid = typeof JSON.parse(`"${body}"`) === 'string';
      } catch {
        valid = false;
      }
      return isJsonText(body, 0, body.length) === valid;
    }),
    { numRuns: 3000 },
  );
  t.pass('agreed');
});

t.test('most tokens of a stream are never parsed', async (t) => {
  const chunk = (word: string) =>
    `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${word}"},"finish_reason":null}]}\n\n`;
  const decoder = new OpenAiStreamDecoder(options(true, 1));
  const parse = JSON.parse;
  let parses = 0;
  JSON.parse = (json: string) => {
    parses++;
    return parse(json);
  };
  try {
    for (let index = 0; index < 100; index++) decoder.push(Buffer.from(chunk(`t${index}`)));
  } finally {
    JSON.parse = parse;
  }
  t.equal(parses, 2, 'one to read the first chunk, one to prove its skeleton');
});

t.test('garbage in place of a response', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (list) => {
      const { failure } = read(list.map((piece) => Buffer.from(piece)));
      return failure?.kind === 'engine_unreachable';
    }),
  );
  const wild = fc.array(
    fc.oneof(fc.json(), fc.constantFrom('{"choices":[{"delta":{"tool_calls":[null,1,{"function":7}]}}]}')),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(wild, (list) => {
      read([Buffer.from(list.map(event).join(''))]);
      return true;
    }),
  );
  const extra = read([
    Buffer.from('data: {"choices":[{"index":7,"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n'),
  ]);
  t.strictSame(
    plain(extra),
    { parts: [], failure: ['engine_unreachable', 'The engine ended its answer early'] },
    'a choice that nobody requested is ignored',
  );
});

t.test('an event that cannot be read, or has another shape, fails the call', async (t) => {
  const before = event('{"choices":[{"index":0,"delta":{"content":"one "}}]}');
  const after = event('{"choices":[{"index":0,"delta":{"content":"three"},"finish_reason":"stop"}]}');
  const choice = (json: string): string => `{"choices":[{"index":0,${json}}]}`;
  const holes = [
    '{',
    'ping',
    '17',
    '"text"',
    '[]',
    'null',
    '{"choices":{}}',
    '{"choices":["two"]}',
    '{"choices":[null]}',
    '{"choices":[{"index":"0","delta":{"content":"two"}}]}',
    '{"choices":[{"index":-1,"delta":{"content":"two"}}]}',
    choice('"delta":"two"'),
    choice('"delta":[{"content":"two"}]'),
    choice('"delta":{"content":2}'),
    choice('"delta":{"content":{"text":"two"}}'),
    choice('"delta":{"content":[{"type":"text","text":"two"}]}'),
    choice('"delta":{"reasoning":{"text":"two"}}'),
    choice('"delta":{"reasoning_content":2}'),
    choice('"delta":{"refusal":true}'),
    choice('"text":2'),
    choice('"delta":{},"finish_reason":{"type":"stop"}'),
    choice('"delta":{"tool_calls":["two"]}'),
    choice('"delta":{"tool_calls":[{"index":0,"function":"two"}]}'),
    choice('"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":[2]}}]}'),
    choice('"delta":{"tool_calls":[{"function":{"arguments":"{}"}}]}'),
    choice('"delta":{"function_call":"two"}'),
  ];
  for (const hole of holes)
    for (const skeletons of [true, false])
      t.strictSame(
        plain(read([Buffer.from(`${before}${event(hole)}${after}data: [DONE]\n\n`)], skeletons)),
        {
          parts: [text('one ')],
          failure: ['engine_unreachable', 'The engine sent an answer that cannot be read'],
        },
        hole,
      );
  const harmless = [
    ': comment',
    'event: ping',
    'retry: 10',
    'data: ',
    'data: {"type":"ping"}',
    'data: {"choices":[],"usage":null}',
    'data: {"choices":null,"id":"1"}',
    'data: {"choices":[{"delta":{"content":null,"tool_calls":null,"unknown":7},"finish_reason":null}]}',
  ];
  for (const line of harmless) {
    const { parts, failure } = read([Buffer.from(`${before}${line}\n\n${after}`)]);
    t.strictSame([joined(parts), failure], [[text('one three'), finish('stop', 'stop')], undefined], line);
  }
});

t.test('bounds: calls, held arguments, a line', async (t) => {
  const calls = (list: readonly object[]) =>
    event(JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: list } }] }));
  const many = Array.from({ length: 200 }, (_, index) => ({
    index,
    function: { name: 'f', arguments: '{}' },
  }));
  t.equal(read([Buffer.from(calls(many))]).failure?.message, 'The engine called too many tools');
  const long = [
    calls([{ index: 0, function: { name: 'a', arguments: '{' } }]),
    ...Array.from({ length: 5 }, () =>
      calls([{ index: 1, function: { name: 'b', arguments: 'x'.repeat(1 << 20) } }]),
    ),
  ];
  t.equal(
    read(long.map((piece) => Buffer.from(piece))).failure?.message,
    'The engine sent arguments that are too long',
  );
  const line = Buffer.alloc(1 << 20, 'x');
  t.equal(
    thrown(() => read([Buffer.from('data: '), line, line, line, line, line]))?.kind,
    'engine_unreachable',
  );
});

/** What vLLM has made of a whole answer when it is stopped. */
const brokenOff =
  '{"choices":[{"index":0,"message":{"role":"assistant","content":"kIt"},"finish_reason":"abort","stop_reason":null}]}';

t.test('whole responses', async (t) => {
  const decodeWhole = (body: Buffer, use: AnswerOptions) => new WholeDecoder().decode(body, use);
  const whole = (name: string, choices = 1) => joined(decodeWhole(fixture(name), options(true, choices)));
  const logprob = (word: string, value: number) => ({
    token: word,
    logprob: value,
    bytes: [...Buffer.from(word)],
    top_logprobs: [],
  });
  t.strictSame(whole('vllm-whole.json'), [
    reasoning('2+2'),
    { ...text('Four.'), logprobs: [logprob('Four', -0.1), logprob('.', -0.2)] },
    finish('stop', 'stop', 0, '##'),
    usage(9, 6, 8),
  ]);
  t.strictSame(whole('vllm-recorded-whole-tools.json'), [
    reasoning('\nTwo calls.\n'),
    text('\n\nLet me look.\n'),
    ...call(0, 'call_ours0', 'get_weather', '{"city": "Ghent"}'),
    ...call(1, 'call_ours1', 'now', '{}'),
    finish('tool_calls', 'tool_calls'),
    usage(262, 61, 256, 7),
  ]);
  t.match(whole('vllm-recorded-whole-stop.json'), [
    { ...text('one two three four'), logprobs: { length: 13 } },
    finish('stop', 'stop', 0, ' five'),
    usage(27, 13),
  ]);
  t.match(
    thrown(() => decodeWhole(Buffer.from(brokenOff), options(true, 1))),
    { kind: 'engine_unreachable', message: 'The engine broke off its answer' },
  );
  t.strictSame(whole('ollama-whole-tools.json'), [
    ...call(0, 'call_x1', 'add', '{"a":1}'),
    ...call(1, 'call_ours0', 'now', '{}'),
    finish('tool_calls', 'stop'),
    usage(5, 7),
  ]);
  t.strictSame(whole('ollama-recorded-tools.json'), [
    ...call(0, 'call_we9darc9', 'add', '{"a":1,"b":[2,"x\\u003cy"]}'),
    ...call(1, 'call_b9znsgq4', 'now', '{}'),
    finish('tool_calls', 'tool_calls'),
    usage(193, 7),
  ]);
  t.strictSame(whole('llama-cpp-whole-think-n2.json', 2), [
    reasoning('hm'),
    text('Sure'),
    finish('stop', 'stop'),
    { type: 'reasoning', choice: 1, text: 'never ends' },
    finish('length', 'length', 1),
  ]);
  t.match(
    thrown(() => whole('tgi-whole-error.json')),
    {
      kind: 'invalid_request',
      message: 'Input validation error: `inputs` must have less than 4096 tokens. Given: 5000',
    },
  );
  for (const body of ['', '{"choices":', '<html>', '[]', '{}', '{"choices":[]}', 'null']) {
    t.equal(thrown(() => decodeWhole(Buffer.from(body), options(true, 1)))?.kind, 'engine_unreachable', body);
  }
});

t.test('think tags are text for a model that does not reason', async (t) => {
  const decoder = openAiWire.chat.decodeStream(sampleModel(), sampleCall());
  const parts = [...decoder.push(fixture('llama-cpp-think.sse'))];
  t.match(joined(parts)[0], text('<think>\nSo a<b and </think>\n\nDone: </think> stays'));
  t.match(
    joined([...openAiWire.chat.decodeStream(thinker, sampleCall()).push(fixture('llama-cpp-think.sse'))])[0],
    {
      type: 'reasoning',
    },
  );
});

t.test('generated ids have the right format', async (t) => {
  const parts = openAiWire.chat.decodeWhole(thinker, sampleCall(), fixture('ollama-whole-tools.json'));
  t.match(
    parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])),
    ['call_x1', /^call_[0-9a-f]{24}$/],
  );
});

t.test('engine error messages are cut to one line without internal details', async (t) => {
  const rows: readonly (readonly [said: unknown, read: string | undefined])[] = [
    [{ error: { message: 'Too long: 5000 tokens' } }, 'Too long: 5000 tokens'],
    [{ error: 'Too long' }, 'Too long'],
    [{ object: 'error', message: 'Too long', code: 400 }, 'Too long'],
    [{ detail: [{ msg: 'Too long', loc: ['body'] }] }, 'Too long'],
    [{ detail: 'Too long' }, 'Too long'],
    [{ error: { message: 'Too long\r\nTraceback: …' } }, 'Too long'],
    [{ error: { message: '\n  Too long \n  File "x.py"' } }, 'Too long'],
    [{ error: { message: ' \n' } }, undefined],
    [{ error: { message: ' \n' }, message: 'Too long' }, 'Too long'],
    [{ error: { message: 5 } }, undefined],
    [{}, undefined],
    ['Too long', undefined],
    [{ error: 'x'.repeat(400) }, `${'x'.repeat(299)}…`],
  ];
  for (const [said, read] of rows) t.equal(errorMessage(JSON.stringify(said)), read);
  t.equal(errorMessage('<html>'), undefined);

  const inside: readonly (readonly [said: string, read: string])[] = [
    ['GET http://10.0.0.5:8000/v1/models failed', 'GET (address) failed'],
    ['tcp://engine-a:5555 and s3://bucket/key are gone', '(address) and (address) are gone'],
    ['connect to 10.0.0.5:8000, 10.0.0.6 refused', 'connect to (address), (address) refused'],
    ['connect to [fd00::5]:8000 or ::1 refused', 'connect to (address) or (address) refused'],
    ['c10::Error in std::abort, ratio 3:4, at 12:30', 'c10::Error in std::abort, ratio 3:4, at 12:30'],
    ['no host vllm-0.models.svc.cluster.local:8000 [down]', 'no host (address) [down]'],
    ['no host engine-a.internal, nor localhost:29500', 'no host (address), nor (address)'],
    ['registry.ollama.ai/library/writer:latest does not support tools', '(address) does not support tools'],
    ['File "/usr/lib/x.py", line 3', 'File "(path)", line 3'],
    ['The model `/data/models/large` is broken', 'The model `(path)` is broken'],
    ['path=/srv/models/a [/opt/b/c] {/opt/d/e}', 'path=(path) [(path)] {(path)}'],
    ['cannot open D:\\models\\large.bin now', 'cannot open (path) now'],
    ['Incorrect API key: sk-proj-0123456789', 'Incorrect API key: (key)'],
    ['sent Bearer abcdefgh12345', 'sent (key)'],
  ];
  for (const [said, read] of inside) t.equal(errorMessage(JSON.stringify({ error: said })), read);
  for (const said of [
    'messages[0].content[1]: `type` must be text/plain and/or image/png, not acme/writer:express',
    'no acme/writer-3.5/large nor e.g./i.e. in v1.beta/x',
    'temperature must be between 0.0 and 2.0 at 12:30:45; ratio 16:9; std::vector; max_tokens:32768',
  ])
    t.equal(errorMessage(JSON.stringify({ error: said })), said, 'the rest stays');
});

t.test('error codes of engines', async (t) => {
  const rows: readonly (readonly [said: object, kind: string])[] = [
    [{ error: { code: 400 } }, 'invalid_request'],
    [{ error: { code: '400', type: 'None' } }, 'invalid_request'],
    [{ error: { code: 413 } }, 'invalid_request'],
    [{ error: { code: 'context_length_exceeded' } }, 'invalid_request'],
    [{ error: { code: 'unknown_word', type: 'invalid_request_error' } }, 'invalid_request'],
    [{ error: { code: null, type: 'invalid_request_error' } }, 'invalid_request'],
    [{ error: { code: 429 } }, 'unavailable'],
    [{ error: { code: '429' } }, 'unavailable'],
    [{ error: { code: 'rate_limit_exceeded', type: 'tokens' } }, 'unavailable'],
    [{ error: { code: 503, type: 'invalid_request_error' } }, 'unavailable'],
    [{ error: 'Busy', error_type: 'overloaded' }, 'unavailable'],
    [{ object: 'error', type: 'BadRequestError', code: null }, 'invalid_request'],
    [{ error: { code: 504 } }, 'timeout'],
    [{ error: { code: '504' } }, 'timeout'],
    [{ error: { code: 500, type: 'server_error' } }, 'engine_unreachable'],
    [{ error: { code: 404, type: 'NotFoundError' } }, 'engine_unreachable'],
    [{ error: {} }, 'engine_unreachable'],
    [{ error: { code: { toString: 1 }, type: ['400'] } }, 'engine_unreachable'],
  ];
  for (const [said, kind] of rows) {
    const { parts, failure } = read([Buffer.from(`data: ${JSON.stringify(said)}\n\n`)]);
    t.strictSame([parts, failure?.kind], [[], kind], JSON.stringify(said));
  }
});
