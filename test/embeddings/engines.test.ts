/** Tests embedding engines over HTTP: batches, order, sizes, encodings, broken responses and chained gateways. */
import { deepEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { convertVector } from '../../src/engines/operations/convert-vector.ts';
import { JsonPicker, type Pick } from '../../src/engines/wires/shared/json-picker.ts';
import { writeVector } from '../../src/helpers/vectors.ts';
import { countTokens } from '../../src/tokens/count.ts';
import { type ReceivedRequest, type Script, startScriptedEngine } from '../engines/scripted-engine.ts';
import { eventually } from '../eventually.ts';
import { embeddingsOf, startPosting, type Vectors, vectorsOf } from './posting.ts';

interface Asked {
  readonly model: string;
  readonly input: readonly (string | readonly number[])[];
  readonly encoding_format: string;
}

const asked = ({ body }: ReceivedRequest): Asked => JSON.parse(body);
/** A vector that encodes the length and the beginning of its input. */
const vectorOf = (input: string | readonly number[]): number[] => {
  const first = typeof input === 'string' ? input.charCodeAt(0) : (input[0] ?? 0);
  return [input.length / 1024, first / 4096, 0.1, -1e-7];
};
const encoded = (vector: readonly number[]): string => writtenAs(vector, 'base64');
const writtenAs = (vector: readonly number[], encoding: 'float' | 'base64') =>
  JSON.parse(writeVector(Float32Array.from(vector), encoding).toString());
const items = ({ input, encoding_format }: Asked) =>
  input.map((each, index) => ({
    object: 'embedding',
    index,
    embedding: encoding_format === 'base64' ? encoded(vectorOf(each)) : vectorOf(each),
  }));
/** As vLLM answers. */
const answer: Script = (request) => {
  const { input, model } = asked(request);
  request.json(200, {
    id: 'embd-1',
    object: 'list',
    created: 1,
    model,
    data: items(asked(request)),
    usage: { prompt_tokens: 7 * input.length, total_tokens: 7 * input.length, completion_tokens: 0 },
  });
};

/** A gateway with one embedding model, `far/embed`, on an engine that the test plays itself. */
const start = async (t: Test, script: Script = answer, capabilities = '{ dimensions: 4 }', context = 512) => {
  const far = await startScriptedEngine(script);
  const posting = await startPosting<Vectors>({
    catalog: `
engines:
  far: { wire: openai, replicas: ['${far.url}'] }
models:
  far/embed: { kind: embedding, engine: far, served_as: near, context_length: ${context}, pricing: { prompt: '0.000001' }, capabilities: { embedding: ${capabilities} } }
`,
  });
  t.teardown(async () => {
    await posting.gateway.stop();
    await far.close();
  });
  const ask = (input: unknown, fields: object = {}) =>
    posting.post('/embeddings', { model: 'far/embed', input, ...fields });
  return { ...posting, far, ask };
};

const near = (t: Test, found: readonly (readonly number[])[], inputs: readonly string[], what = 'vectors') =>
  t.same(
    found.map((vector) => vector.map(Math.fround)),
    inputs.map((input) => vectorOf(input).map(Math.fround)),
    what,
  );

const inputs = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index} is a number`);

t.test('extracting values from chunked JSON', async (t) => {
  const json = fc.json({ maxDepth: 4 });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(json, json, fc.integer({ min: 1, max: 9 }), (wanted, other, size) => {
        const text = Buffer.from(
          ` {"other" :${other},"list":[ {"wanted":${wanted},"x":${other}}, ${other},{"wanted" : ${wanted}}],\n"a\\u0062":${wanted}, "list2":[]} `,
        );
        const found: unknown[] = [];
        let ends = 0;
        const take: Pick<undefined> = { raw: (bytes) => found.push(JSON.parse(bytes.toString())) };
        const picker = new JsonPicker(
          {
            keys: new Map<string, Pick<undefined>>([
              ['list', { items: { keys: new Map([['wanted', take]]), end: () => ends++ } }],
              ['ab', take],
            ]),
          },
          undefined,
        );
        for (let at = 0; at < text.length; at += size) picker.push(text.subarray(at, at + size));
        picker.end();
        const isObject = /^\s*\{/.test(other);
        if (isObject && other.includes('"wanted"')) return;
        deepEqual(
          found,
          [wanted, wanted, wanted].map((each) => JSON.parse(each)),
        );
        equal(ends, isObject ? 3 : 2);
      }),
      { numRuns: 300 },
    ),
  );
  const long = fc.string({ unit: fc.constantFrom('a', '"', '\\', ']', '/'), maxLength: 120 });
  const numbers = fc.array(
    fc.oneof(fc.integer(), fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }))),
  );
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(long, long, numbers, fc.integer({ min: 1, max: 50 }), (first, second, list, size) => {
        const text = Buffer.from(
          JSON.stringify({ first, skipped: [second, { second }], list, last: second }),
        );
        const found: unknown[] = [];
        const take = { raw: (bytes: Buffer) => found.push(JSON.parse(bytes.toString())) };
        const picker = new JsonPicker(
          {
            keys: new Map<string, Pick<undefined>>([
              ['first', take],
              ['list', { ...take, numbers: true }],
              ['last', take],
            ]),
          },
          undefined,
        );
        for (let at = 0; at < text.length; at += size) picker.push(text.subarray(at, at + size));
        picker.end();
        deepEqual(found, [first, JSON.parse(JSON.stringify(list)), second]);
      }),
      { numRuns: 500 },
    ),
  );
  for (const text of [
    '{"a"',
    '{"a":1',
    '{"a":1}x',
    '{"a" 1}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{"list":[,]}',
    '',
  ]) {
    const picker = new JsonPicker(
      {
        keys: new Map<string, Pick<undefined>>([['list', { items: { raw: () => undefined } }]]),
      },
      undefined,
    );
    t.throws(
      () => {
        picker.push(Buffer.from(text));
        picker.end();
      },
      new Error('The engine sent an answer that cannot be read'),
      text,
    );
  }
});

t.test('vectors in both encodings', async (t) => {
  const vector = fc
    .float32Array({ minLength: 1, maxLength: 40, noNaN: true, noDefaultInfinity: true })
    .filter((floats) => floats.every((value) => !Object.is(value, -0)));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(vector, fc.constantFrom('float' as const, 'base64' as const), (floats, given) => {
        const whole = { dimensions: undefined };
        const bytes = Buffer.from(
          given === 'float' ? JSON.stringify([...floats]) : writeVector(floats, given),
        );
        const base64 = convertVector(bytes, { encoding: 'base64', ...whole });
        deepEqual(base64, writeVector(floats, 'base64'), 'base64 is exact');
        const numbers: number[] = JSON.parse(
          convertVector(bytes, { encoding: 'float', ...whole }).toString(),
        );
        deepEqual(numbers.map(Math.fround), [...floats], 'numbers are exact');
        const same = convertVector(bytes, { encoding: given, ...whole });
        equal(same, bytes, 'what is as asked is passed on');
      }),
    ),
  );
});

t.test('the request that an engine gets', async (t) => {
  const { ask, far, gateway } = await start(
    t,
    answer,
    '{ dimensions: 4, truncatable: true, truncate_field: truncate_prompt_tokens }',
  );
  await ask(['Hello', 'you'], { encoding_format: 'base64', user: 'u', input_type: 'query' });
  await ask([[1, 2], [3]]);
  await ask('Hello', { dimensions: 2 });
  const [first, ...others] = far.requests.map((request) => JSON.parse(request.body));
  t.same(first, {
    model: 'near',
    input: ['Hello', 'you'],
    encoding_format: 'base64',
    truncate_prompt_tokens: 512,
  });
  t.same(
    others.map(({ input, encoding_format }) => ({ input, encoding_format })),
    [
      { input: [[1, 2], [3]], encoding_format: 'float' },
      { input: ['Hello'], encoding_format: 'base64' },
    ],
    'token ids as they are; what will be read is asked for as base64',
  );
  t.match(far.requests[0]?.head, /^POST \/v1\/embeddings HTTP/);
  t.match(far.requests[0]?.head, /x-request-id: req_/);
  t.equal(gateway.logLines.filter(({ level }) => level >= 40).length, 0);
});

t.test('batches', async (t) => {
  let running = 0;
  let most = 0;
  let last = 0;
  const waiting: ReceivedRequest[] = [];
  /** Answers come in the wrong order, and only when as many calls are there as there will be. */
  const { ask, far, events } = await start(
    t,
    (request) => {
      running++;
      most = Math.max(most, running);
      waiting.push(request);
      const isLast = far.requests.length === last;
      if (running < 8 && !isLast) return;
      for (const each of waiting.splice(0).reverse()) {
        running--;
        answer(each);
      }
    },
    '{ dimensions: 4, batch: 10 }',
  );
  const texts = inputs(95);
  for (const encoding_format of ['float', 'base64']) {
    const from = far.requests.length;
    last = from + 10;
    const said = await ask(texts, { encoding_format });
    near(t, vectorsOf(said), texts, 'in input order');
    t.equal(said.body.usage.prompt_tokens, 7 * 95);
    t.equal(events.at(-1)?.cost, '0.000665');
    t.same(
      far.requests
        .slice(from)
        .map((request) => asked(request).input.length)
        .sort((one, other) => other - one),
      [10, 10, 10, 10, 10, 10, 10, 10, 10, 5],
    );
  }
  t.equal(most, 8, 'at once');
});

t.test('batches when the row sets no size', async (t) => {
  const { ask, far } = await start(t, answer, '{ dimensions: 4 }', 1_000_000);
  const sizes = (from: number) =>
    far.requests
      .slice(from)
      .map((request) => asked(request).input.length)
      .sort((one, other) => one - other);
  t.equal((await ask(inputs(300))).status, 200);
  t.same(sizes(0), [44, 128, 128]);
  const long = Array.from({ length: 10 }, (_, index) => `${index}${' words'.repeat(20_000)}`);
  t.equal((await ask(long)).status, 200);
  t.same(sizes(3), [2, 4, 4], 'half a megabyte at most');
});

t.test('variants of engines', async (t) => {
  const { ask, far, events } = await start(t);
  const texts = ['Hello there', 'a', '日本語 text', 'The quick brown fox jumps over the lazy dog'];
  const ownCount = await countTokens(texts, 'o200k_base');
  const usage = { prompt_tokens: 21, total_tokens: 21 };
  const plain = (request: ReceivedRequest) =>
    texts
      .map((text, index) => ({ index, embedding: vectorOf(text), request }))
      .map(({ request: _, ...item }) => item);
  const habits: readonly (readonly [name: string, tokens: number, script: Script])[] = [
    ['as vLLM', 28, answer],
    ['encoding ignored', 21, (request) => request.json(200, { data: plain(request), usage })],
    [
      'base64 always',
      21,
      (request) =>
        request.json(200, {
          data: plain(request).map(({ index, embedding }) => ({ index, embedding: encoded(embedding) })),
          usage,
        }),
    ],
    ['no usage', ownCount, (request) => request.json(200, { data: items(asked(request)) })],
    ['usage null', ownCount, (request) => request.json(200, { usage: null, data: items(asked(request)) })],
    [
      'usage of zero',
      ownCount,
      (request) =>
        request.json(200, { usage: { prompt_tokens: 0, total_tokens: 0 }, data: items(asked(request)) }),
    ],
    [
      'only a total',
      21,
      (request) => request.json(200, { usage: { total_tokens: 21 }, data: items(asked(request)) }),
    ],
    [
      'characters for tokens',
      ownCount,
      (request) =>
        request.json(200, { usage: { prompt_tokens: texts.join('').length }, data: items(asked(request)) }),
    ],
    ['unordered', 21, (request) => request.json(200, { data: items(asked(request)).reverse(), usage })],
    [
      'no numbers',
      21,
      (request) =>
        request.json(200, { data: items(asked(request)).map(({ embedding }) => ({ embedding })), usage }),
    ],
    [
      'the number last',
      21,
      (request) =>
        request.json(200, {
          usage,
          data: items(asked(request)).map(({ index, embedding }) => ({ embedding, index })),
        }),
    ],
    [
      'a list in a list',
      21,
      (request) =>
        request.json(200, {
          data: plain(request).map((item) => ({ ...item, embedding: [item.embedding] })),
          usage,
        }),
    ],
    [
      'written wide',
      21,
      (request) => request.json(200, JSON.stringify({ data: plain(request), usage }, null, 2)),
    ],
    [
      'escaped slashes',
      21,
      (request) =>
        request.json(200, JSON.stringify({ data: items(asked(request)), usage }).replaceAll('/', '\\/')),
    ],
    [
      'extra words',
      21,
      (request) =>
        request.json(200, {
          model: 'x',
          extra: { data: [1, { embedding: [9] }] },
          data: items(asked(request)).map((item) => ({ ...item, tokens: ['"]}'] })),
          usage,
        }),
    ],
    [
      'byte by byte',
      21,
      async (request) => {
        request.streamHead();
        for (const byte of Buffer.from(JSON.stringify({ data: items(asked(request)), usage })))
          request.chunk(Buffer.from([byte]));
        request.end();
      },
    ],
  ];
  for (const [name, tokens, script] of habits) {
    far.script = script;
    for (const encoding_format of ['float', 'base64'] as const) {
      const said = await ask(texts, { encoding_format });
      t.equal(said.status, 200, name);
      near(t, vectorsOf(said), texts, name);
      t.ok(embeddingsOf(said).every((each) => (typeof each === 'string') === (encoding_format === 'base64')));
      t.same(said.body.usage, { prompt_tokens: tokens, total_tokens: tokens }, name);
      t.equal(events.at(-1)?.quantities.prompt_tokens, tokens);
    }
  }
});

t.test('invalid responses', async (t) => {
  const { ask, far, events } = await start(t);
  const unreadable = 'The engine sent an answer that cannot be read';
  const withVector =
    (json: string): Script =>
    (request) =>
      request.json(200, `{"data":[{"index":0,"embedding":${json}}]}`);
  const broken: readonly (readonly [name: string, status: number, message: string, script: Script])[] = [
    ['too few', 502, unreadable, (request) => request.json(200, { data: [] })],
    [
      'the same twice',
      502,
      unreadable,
      (request) => request.json(200, { data: [{ index: 1, embedding: [1] }] }),
    ],
    ['no data', 502, unreadable, (request) => request.json(200, {})],
    ['no JSON', 502, unreadable, (request) => request.json(200, '<html></html>')],
    ['half of it', 502, unreadable, (request) => request.json(200, '{"data":[{"index":0,"embedding":[0.1')],
    ['null', 502, unreadable, withVector('null')],
    ['empty', 502, unreadable, withVector('[]')],
    ['no numbers', 502, unreadable, withVector('[null,0.1]')],
    ['NaN', 502, unreadable, withVector('[NaN]')],
    ['a text', 502, unreadable, withVector('["0.1"]')],
    ['no base64', 502, unreadable, withVector('"abc"')],
    ['a row for each token', 502, unreadable, withVector('[[0.1,0.2],[0.3,0.4]]')],
    [
      'an error in a 200',
      400,
      'No such thing',
      (request) => request.json(200, { object: 'error', message: 'No such thing', code: 400 }),
    ],
    [
      'an error object',
      503,
      'Too busy',
      (request) => request.json(200, { error: { message: 'Too busy', code: 503 } }),
    ],
    [
      'a refusal',
      400,
      'Not this one',
      (request) => request.json(400, { error: { message: 'Not this one' } }),
    ],
    [
      'another',
      400,
      'validation error',
      (request) => request.json(422, { message: 'validation error', type: 'validation', code: 422 }),
    ],
    ['busy', 503, 'The model is busy, try again', (request) => request.json(429, {})],
    ['gone', 502, 'The engine could not be reached', (request) => request.reset()],
    ['at fault', 502, 'The engine could not answer', (request) => request.json(500, { error: 'oh' })],
  ];
  for (const [name, status, message, script] of broken) {
    far.script = script;
    const said = await ask('Hello');
    t.equal(said.status, status, name);
    t.equal(said.body.error?.message, message, name);
    t.match(events.at(-1), { outcome: 'failed', status, cost: '0' }, name);
  }
});

t.test('an engine that accepts less than it is sent', async (t) => {
  const { ask, far } = await start(t, answer, '{ dimensions: 4, batch: 64 }');
  const refuse = (request: ReceivedRequest, status: number, message: string) =>
    request.json(status, { error: { message } });
  const texts = inputs(64);

  t.test('batches are halved', async (t) => {
    far.script = (request) =>
      asked(request).input.length > 10
        ? refuse(request, 422, `batch size ${asked(request).input.length} > maximum allowed batch size 10`)
        : answer(request);
    const said = await ask(texts);
    near(t, vectorsOf(said), texts);
    t.equal(said.body.usage.prompt_tokens, 7 * 64, 'refused ones are not counted');
  });

  const tooLong: readonly (readonly [status: number, message: string])[] = [
    [
      400,
      "This model's maximum context length is 512 tokens. However, you requested 700 tokens in the input.",
    ],
    [413, 'Input validation error: `inputs` must have less than 512 tokens. Given: 700'],
    [500, 'input is too large to process. increase the physical batch size'],
  ];
  for (const [status, message] of tooLong)
    t.test(`long inputs are truncated: ${status}`, async (t) => {
      const from = far.requests.length;
      far.script = (request) =>
        asked(request).input.some((input) => input.length > 100)
          ? refuse(request, status, message)
          : answer(request);
      const long = `${'a'.repeat(110)}😀`.repeat(3);
      const mixed = [...texts.slice(0, 5), long, ...texts.slice(5, 9), 'b'.repeat(100)];
      const said = await ask(mixed);
      t.equal(said.status, 200);
      const sent = far.requests
        .slice(from)
        .flatMap((request) => asked(request).input)
        .filter((input) => input[0] === 'a');
      const last = sent.at(-1) ?? '';
      t.ok(last.length > 70 && last.length <= 100, `the long one is cut to ${last.length}`);
      near(
        t,
        vectorsOf(said),
        mixed.map((text) => (text === long ? String(last) : text)),
        'and it alone',
      );
    });

  t.test('token ids too', async (t) => {
    far.script = (request) =>
      asked(request).input.some((input) => input.length > 100)
        ? refuse(request, 400, 'too many tokens')
        : answer(request);
    const said = await ask([Array(300).fill(5), [7]]);
    t.equal(said.status, 200);
    t.equal(vectorsOf(said)[0]?.[0], 94 / 1024);
  });

  t.test('with a bounded number of retries', async (t) => {
    far.script = (request) => refuse(request, 400, 'too many tokens');
    const said = await ask(['c'.repeat(200), 'd']);
    t.match(said, { status: 400, body: { error: { message: 'too many tokens' } } });
  });

  t.test('an engine that this request saturates gets the rest in smaller batches', async (t) => {
    let running = 0;
    far.script = async (request) => {
      if (running > 0) return request.json(503, { error: { message: 'full' } });
      running++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      answer(request);
    };
    const said = await ask(inputs(640));
    t.equal(said.status, 200);
    near(t, vectorsOf(said), inputs(640));
  });
});

t.test('all batches end together', async (t) => {
  const { ask, far, events, post, gateway } = await start(t, answer, '{ dimensions: 4, batch: 1 }');
  const gone = (from: number) =>
    far.requests.slice(from).filter((request) => request.socket.destroyed).length;

  t.test('when one fails', async (t) => {
    const from = far.requests.length;
    far.script = (request) => {
      if (request.number === from + 7) request.json(500, {});
    };
    const said = await ask(inputs(20));
    t.equal(said.status, 502);
    t.equal(far.requests.length - from, 8);
    await eventually(() => gone(from) >= 7, 'the others are closed');
    t.match(events.at(-1), { outcome: 'failed', cost: '0' });
  });

  t.test('when the client disconnects, it pays for what was computed', async (t) => {
    const from = far.requests.length;
    const before = events.length;
    far.script = (request) => {
      const [input] = asked(request).input;
      if (input === '0 is a number') answer(request);
    };
    const leaving = new AbortController();
    const said = post('/embeddings', { model: 'far/embed', input: inputs(20) }, leaving.signal);
    await eventually(() => far.requests.length - from === 9, 'all that fit are there');
    leaving.abort();
    await t.rejects(said);
    await eventually(() => gone(from) >= 8, 'all are closed');
    await eventually(() => events.length > before, 'the event');
    t.match(events.at(-1), {
      outcome: 'cancelled',
      status: 499,
      quantities: { prompt_tokens: 7, inputs: 1 },
      cost: '0.000007',
    });
    t.equal(gateway.ports.admission.stats().running, 0);
  });
});

t.test('chained gateways', async (t) => {
  const inner = await startPosting<Vectors>();
  const outer = await startPosting<Vectors>({
    catalog: `
engines:
  inner: { wire: openai, replicas: ['${inner.gateway.url}'], headers: { authorization: 'Bearer ${inner.gateway.key}' } }
models:
  outer/embed:
    kind: embedding
    engine: inner
    served_as: sluice/embed-instruct
    context_length: 32768
    capabilities: { embedding: { dimensions: 1024, truncatable: true, batch: 100, query_instruction: 'Instruct: Look\\nQuery: ', instruction_marker: 'Instruct:' } }
`,
  });
  t.teardown(async () => {
    await outer.gateway.stop();
    await inner.gateway.stop();
  });
  const texts = inputs(250);
  for (const fields of [
    {},
    { encoding_format: 'base64' },
    { dimensions: 256 },
    { dimensions: 9, encoding_format: 'base64' },
  ]) {
    const direct = await inner.post('/embeddings', {
      model: 'sluice/embed-instruct',
      input: texts,
      ...fields,
    });
    const through = await outer.post('/embeddings', { model: 'outer/embed', input: texts, ...fields });
    t.same(embeddingsOf(through), embeddingsOf(direct), JSON.stringify(fields));
    t.same(through.body.usage, direct.body.usage);
  }
  const query = await outer.post('/embeddings', {
    model: 'outer/embed',
    input: 'tides',
    input_type: 'query',
  });
  t.ok(query.body.usage.prompt_tokens > 1, 'the instruction is counted where it is read');
  const refused = await outer.post('/embeddings', { model: 'outer/embed', input: '/sim fail=503\nx' });
  t.match(refused, { status: 503, body: { error: { metadata: { error_type: 'provider_overloaded' } } } });
});
