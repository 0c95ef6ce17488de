/** Tests disconnects, backpressure, broken engines and chained gateways over real sockets. */
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { sse, startEngine, watchedGateway } from './watched-gateway.ts';

const say = (content: string) => [{ role: 'user' as const, content }];

/** A request whose answer is left to the caller to read, stop reading, or leave. */
const open = ({ url, key }: TestGateway, body: object, path = '/chat/completions') => {
  const sent = request(`${url}${path}`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  sent.on('error', () => {});
  sent.end(JSON.stringify({ model: 'far/chat', messages: say('Hi'), ...body }));
  return sent;
};

const post = async (gateway: TestGateway, body: object) => {
  const [response] = (await once(open(gateway, body), 'response')) as [IncomingMessage];
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return { status: response.statusCode, text };
};

t.test('a client that disconnects', async (t) => {
  /** Calls at the engine, and how many of them it saw closed. */
  const atEngine = { open: 0, closed: 0 };
  let answer = (response: ServerResponse): void => void response;
  const engine = await startEngine((response) => {
    atEngine.open++;
    response.on('close', () => {
      atEngine.closed++;
    });
    answer(response);
  });
  const { gateway, events, held, waiting } = await watchedGateway(engine.url, {
    model: ', limits: { concurrency: 1 }',
  });
  t.teardown(async () => {
    await gateway.stop();
    await engine.stop();
  });

  const leaves = async (t: Test, sent: ReturnType<typeof open>, calls: number) => {
    const before = events.length;
    sent.destroy();
    await eventually(() => atEngine.closed === calls, 'the engine sees it');
    await eventually(() => held() === 0, 'the slot comes back');
    await eventually(() => events.length > before, 'usage is recorded');
    t.equal(events.length, before + 1, 'once');
    return events.at(-1);
  };

  t.test('in the middle of a stream pays for the generated tokens', async (t) => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse.text('Hello') + sse.text(' you'));
    };
    const sent = open(gateway, { stream: true });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response, 'data');
    t.equal(held(), 1);
    t.match(await leaves(t, sent, 1), {
      outcome: 'cancelled',
      status: 499,
      route: '/chat/completions',
      model: 'far/chat',
      engine: 'far',
      quantities: { prompt_tokens: 8, completion_tokens: 2 },
      generated_tokens: 2,
      delivered_tokens: 2,
      cost: '0.000012',
    });
  });

  t.test('before the first token of a stream pays nothing', async (t) => {
    answer = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const sent = open(gateway, { stream: true });
    await eventually(() => atEngine.open === 2, 'the engine is called');
    t.match(await leaves(t, sent, 2), { outcome: 'cancelled', generated_tokens: 0, cost: '0' });
  });

  t.test('while a whole response is generated', async (t) => {
    answer = () => {};
    const sent = open(gateway, {});
    await eventually(() => atEngine.open === 3, 'the engine is called');
    t.match(await leaves(t, sent, 3), { outcome: 'cancelled', delivered_tokens: 0, cost: '0' });
  });

  t.test('while it is queued reaches no engine', async (t) => {
    const first = open(gateway, {});
    await eventually(() => atEngine.open === 4, 'the first holds the only slot');
    const second = open(gateway, {});
    await eventually(() => waiting() === 1, 'the second stands in line');
    const before = events.length;
    second.destroy();
    await eventually(() => waiting() === 0, 'and leaves it');
    t.match(await leaves(t, first, 4), { outcome: 'cancelled' });
    answer = (response) =>
      response.end(
        JSON.stringify({
          choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        }),
      );
    t.equal((await post(gateway, {})).status, 200, 'the next one is served');
    t.equal(atEngine.open, 5);
    t.equal(events.length, before + 2, 'whoever only waited has no event');
  });
});

t.test('a paused reader pauses the engine', async (t) => {
  const piece = sse.text('x'.repeat(1000));
  const pieces = 60_000;
  let written = 0;
  let waiting = false;
  const engine = await startEngine((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = (): void => {
      waiting = false;
      while (written < pieces) {
        written++;
        if (!response.write(piece)) {
          waiting = true;
          response.once('drain', write);
          return;
        }
      }
      response.end(sse.finish + sse.usage + sse.done);
    };
    write();
  });
  const { gateway, events, held } = await watchedGateway(engine.url);
  t.teardown(async () => {
    await gateway.stop();
    await engine.stop();
  });

  const sent = open(gateway, { stream: true });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.pause();

  // Still when nothing moved for a hundred looks in a row.
  let last = -1;
  let still = 0;
  await eventually(() => {
    still = waiting && written === last ? still + 1 : 0;
    last = written;
    return still >= 100;
  }, 'the engine stands still');
  const bytes = written * piece.length;
  t.ok(bytes < 24 * 1024 * 1024, `the engine got rid of ${bytes} of ${pieces * piece.length} bytes`);
  t.equal(held(), 1);
  t.equal(events.length, 0);

  let received = 0;
  let tail = '';
  for await (const data of response.setEncoding('utf8')) {
    received += data.split('"content":"x').length - 1;
    tail = (tail + data).slice(-20_000);
  }
  t.ok(tail.endsWith('data: [DONE]\n\n'));
  t.match(tail, /"finish_reason":"stop"/);
  // A piece cut between two reads is missed by this count, and only then.
  t.ok(received > pieces * 0.9, `${received} of ${pieces} pieces arrived once it read on`);
  t.equal(held(), 0);
  t.match(events, [{ outcome: 'completed', quantities: { prompt_tokens: 5, completion_tokens: 2 } }]);
});

t.test('broken engines', async (t) => {
  let answer = (response: ServerResponse): void => void response;
  const engine = await startEngine((response) => answer(response));
  const { gateway, events, held } = await watchedGateway(engine.url);
  t.teardown(async () => {
    await gateway.stop();
    await engine.stop();
  });
  const stream = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' });
  const json = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' });

  const before: readonly (readonly [name: string, status: number, body: object, answer: typeof answer])[] = [
    [
      'a page instead of an answer',
      502,
      {},
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ],
    ['a page instead of a stream', 502, { stream: true }, (response) => response.end('<html>')],
    [
      'half an answer',
      502,
      {},
      (response) => json(response).end('{"choices":[{"index":0,"message":{"content":"Hel'),
    ],
    ['an empty answer', 502, {}, (response) => json(response).end('{}')],
    ['a stream without events', 502, { stream: true }, (response) => stream(response).end()],
    [
      'an event that is no JSON',
      502,
      { stream: true },
      (response) =>
        stream(response).end(`data: {"choices":[{"delta":\n\n${sse.text('Hello')}${sse.finish}${sse.done}`),
    ],
    ['a reset', 502, {}, (response) => response.destroy()],
    [
      'its own bad request',
      400,
      {},
      (response) => response.writeHead(400).end('{"error":{"message":"no such thing"}}'),
    ],
    [
      'busy',
      503,
      { stream: true },
      (response) => response.writeHead(503).end('{"error":{"message":"busy"}}'),
    ],
    ['its own fault', 502, {}, (response) => response.writeHead(500).end('{"error":{"message":"oops"}}')],
  ];
  for (const [name, status, body, breaks] of before) {
    t.test(`${name}, before the first token: ${status}`, async (t) => {
      answer = breaks;
      const { status: seen, text } = await post(gateway, body);
      t.equal(seen, status, text);
      t.match(JSON.parse(text), { error: { code: status, message: /\w/ } });
      await eventually(() => held() === 0, 'the slot comes back');
      t.match(events.at(-1), { outcome: 'failed', status, cost: '0', generated_tokens: 0 });
    });
  }

  const after: readonly (readonly [name: string, answer: typeof answer])[] = [
    ['a reset', (response) => stream(response).write(sse.text('Hello'), () => response.destroy())],
    ['an early end', (response) => stream(response).end(sse.text('Hello'))],
    [
      'an error among the events',
      (response) =>
        stream(response).end(`${sse.text('Hello')}data: {"error":{"message":"oops","code":500}}\n\n`),
    ],
    [
      'an event that is no JSON',
      (response) =>
        stream(response).end(
          `${sse.text('Hello')}data: {"choices":[{"delta":\n\n${sse.text(' you')}${sse.finish}${sse.usage}${sse.done}`,
        ),
    ],
    [
      'an event of another shape',
      (response) =>
        stream(response).end(
          `${sse.text('Hello')}data: {"choices":[{"delta":{"content":[7]}}]}\n\n${sse.text(' you')}${sse.finish}${sse.usage}${sse.done}`,
        ),
    ],
    [
      'a line of ten megabytes',
      (response) => stream(response).end(`${sse.text('Hello')}data: ${'x'.repeat(10_000_000)}\n\n`),
    ],
  ];
  for (const [name, breaks] of after) {
    t.test(`${name}, after it: an error chunk and [DONE]`, async (t) => {
      answer = breaks;
      const { status, text } = await post(gateway, { stream: true });
      t.equal(status, 200);
      const blocks = text
        .trimEnd()
        .split('\n\n')
        .map((block) => block.slice('data: '.length));
      t.equal(blocks.pop(), '[DONE]');
      t.match(JSON.parse(blocks.pop() ?? ''), {
        object: 'chat.completion.chunk',
        choices: [
          { index: 0, delta: { content: '' }, finish_reason: 'error', native_finish_reason: 'error' },
        ],
        error: {
          code: 502,
          message: /\w/,
          type: 'server_error',
          metadata: { error_type: 'provider_unavailable' },
        },
      });
      t.match(text, '"delta":{"content":"Hello"}');
      await eventually(() => held() === 0, 'the slot comes back');
      t.match(events.at(-1), { outcome: 'failed', status: 502, cost: '0', delivered_tokens: 1 });
    });
  }

  t.test('and the next request is served', async (t) => {
    answer = (response) => stream(response).end(sse.text('Hi') + sse.finish + sse.usage + sse.done);
    t.match((await post(gateway, { stream: true })).text, /"content":"Hi"/);
  });
});

t.test('a stream that exceeds the drain time of a stopping gateway gets an error', async (t) => {
  let closed = 0;
  const engine = await startEngine((response) => {
    response.on('close', () => {
      closed++;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse.text('Hello'));
  });
  t.teardown(() => engine.stop());
  const message = 'The server is shutting down';
  const dialects: readonly (readonly [path: string, body: object, last: readonly object[]])[] = [
    [
      '/chat/completions',
      {},
      [
        {
          error: { code: 503, message },
          choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        },
      ],
    ],
    ['/messages', { max_tokens: 100 }, [{ type: 'error', error: { message } }, { type: 'message_stop' }]],
    [
      '/responses',
      { messages: undefined, input: 'Hi' },
      [{ type: 'response.failed', response: { status: 'failed', error: { message } } }],
    ],
  ];
  for (const [path, body, last] of dialects) {
    closed = 0;
    const { gateway, events } = await watchedGateway(engine.url, { env: { SLUICE_DRAIN_SECONDS: '0' } });
    const sent = open(gateway, { stream: true, ...body }, path);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = String(await once(response, 'data'));
    const stopped = gateway.stop();
    for await (const piece of response.setEncoding('utf8')) text += piece;
    await stopped;
    const frames = text.split('\n').filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]');
    t.match(
      frames.slice(-last.length).map((frame) => JSON.parse(frame.slice('data: '.length))),
      last,
      path,
    );
    if (path === '/chat/completions') t.ok(text.endsWith('data: [DONE]\n\n'));
    await eventually(() => closed === 1, 'the engine need not go on');
    t.match(events, [{ outcome: 'failed', status: 503, cost: '0' }]);
  }
});

t.test('chained gateways respond as one does', async (t) => {
  const behind = await startGateway();
  const { gateway, events } = await watchedGateway(behind.url, {
    engine: `, headers: { authorization: 'Bearer ${behind.key}' }`,
  });
  t.teardown(async () => {
    await gateway.stop();
    await behind.stop();
  });
  const near = new OpenAI({ baseURL: behind.url, apiKey: behind.key, maxRetries: 0 });
  const far = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  const plain = ({ id, created, model, ...rest }: OpenAI.ChatCompletion) => rest;

  const look = {
    type: 'function',
    function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
  } as const;
  const rows: readonly Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'stream'>[] = [
    { messages: say('/sim rate=max tokens=30 seed=1\nTell me "all" of 😀') },
    { messages: say('/sim rate=max tokens=30 cached=3\nAgain'), n: 2, seed: 5 },
    { messages: say('/sim rate=max text="a b c STOP d"'), stop: 'STOP', logprobs: true, top_logprobs: 2 },
    { messages: say('Look'), tools: [look], tool_choice: 'required', seed: 3 },
    { messages: say('/sim rate=max tokens=50\nLong'), max_completion_tokens: 7 },
    { messages: [...say('/sim rate=max\nGo'), { role: 'assistant', content: 'Once ' }] },
    { messages: say('Who?'), response_format: { type: 'json_object' } },
  ];
  for (const row of rows) {
    const whole = await near.chat.completions.create({ model: 'sluice/chat', ...row });
    const through = await far.chat.completions.create({ model: 'far/chat', ...row });
    const name = JSON.stringify(row).slice(0, 80);
    t.strictSame(withoutIds(plain(through)), withoutIds(plain(whole)), name);
    const streamed = await far.chat.completions
      .stream({ model: 'far/chat', ...row, stream_options: { include_usage: true } })
      .finalChatCompletion();
    t.strictSame(streamed.choices.map(said), through.choices.map(said), `${name}, streamed`);
    t.same(streamed.usage, through.usage);
  }
  t.match(events[0], { outcome: 'completed', engine: 'far' });

  // An engine that is asked too much is busy to our client, whose own limits are another matter.
  for (const [status, seen] of [
    [400, 400],
    [429, 503],
    [502, 502],
    [503, 503],
    [504, 504],
  ] as const) {
    const thrown: unknown = await far.chat.completions
      .create({ model: 'far/chat', messages: say(`/sim fail=${status}@0`) })
      .catch((error: unknown) => error);
    t.match(thrown, { status: seen }, `${status} before the first token`);
    await far.chat.completions.create({ model: 'far/chat', messages: say('/sim tokens=1') });
  }
  const broken = await far.chat.completions.create({
    model: 'far/chat',
    messages: say('/sim rate=max tokens=50 fail=503@10'),
    stream: true,
  });
  const failure: unknown = await (async () => {
    for await (const _ of broken);
  })().catch((error: unknown) => error);
  t.ok(failure instanceof OpenAI.APIError, 'and after it');
});

/** What an answer says, without what names it. */
const said = ({ finish_reason, logprobs, message }: OpenAI.ChatCompletion.Choice) => ({
  finish_reason,
  logprobs: logprobs?.content ?? null,
  content: message.content ?? '',
  calls: message.tool_calls?.map((call) => call.type === 'function' && call.function.arguments) ?? [],
});

const withoutIds = (value: object): unknown =>
  JSON.parse(JSON.stringify(value), (key, item: unknown) => (key === 'id' ? undefined : item));
