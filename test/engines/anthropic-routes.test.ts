/** Tests every chat format over sockets with an engine of the Messages format behind it, honest or not. */
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import t from 'tap';
import type { Message } from '../../schemas/messages/response.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { readEvents } from '../messages/read-events.ts';
import { type ReceivedRequest, type Script, startScriptedEngine } from './scripted-engine.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/anthropic/${name}`, import.meta.url), 'utf8');

const stream =
  (name: string): Script =>
  (request) => {
    request.streamHead();
    request.chunk(fixture(name));
    request.end();
  };
const asked = (request: ReceivedRequest | undefined) => JSON.parse(request?.body ?? '{}');

/** A good answer, streamed if that was requested. */
const answer: Script = (request) => {
  if (asked(request).stream === true) void stream('anthropic-thinking-tools.sse')(request);
  else request.json(200, fixture('anthropic-whole.json'));
};

const server = await startScriptedEngine(answer);
const gateway = await startGateway({
  env: { FAR_KEY: 'far-secret' },
  catalog: `
engines:
  far: { wire: anthropic, replicas: ['${server.url}'], key_env: FAR_KEY }
  bearer: { wire: anthropic, replicas: ['${server.url}'], key_env: FAR_KEY, key_header: Authorization }
models:
  team/writer:
    engine: far
    served_as: writer-large
    context_length: 200000
    input_modalities: [text, image]
    pricing: { prompt: '0.000001', completion: '0.00001', input_cache_read: '0.0000001' }
    reasoning: { mandatory: false, supports_max_tokens: true, default_enabled: false, supported_efforts: [none, low, high] }
  team/other:
    engine: far
    served_as: writer-small
    context_length: 200000
    reasoning: { mandatory: false, default_enabled: false }
  team/bearer: { engine: bearer, context_length: 1000 }
`,
});
t.teardown(async () => {
  await gateway.stop();
  await server.close();
});

const events: UsageEvent[] = [];
const record = gateway.ports.usage.record.bind(gateway.ports.usage);
gateway.ports.usage.record = (event) => {
  events.push(event);
  return record(event);
};
const nextEvent = async (): Promise<UsageEvent> => {
  const event = await eventually(() => events[0], 'a usage event');
  events.length = 0;
  return event;
};

const post = (path: string, body: object, { url, key }: Pick<TestGateway, 'url' | 'key'> = gateway) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const model = 'team/writer';
const city = { type: 'object', properties: { city: { type: 'string' } } };
const chat = {
  model,
  messages: [
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'Hi' },
  ],
  max_completion_tokens: 8000,
  temperature: 0.7,
  reasoning_effort: 'low',
  tools: [{ type: 'function', function: { name: 'get_weather', parameters: city } }],
};
const messages = {
  model,
  max_tokens: 8000,
  temperature: 0.7,
  system: 'Be brief',
  messages: [{ role: 'user', content: 'Hi' }],
  thinking: { type: 'adaptive' },
  output_config: { effort: 'low' },
  tools: [{ name: 'get_weather', input_schema: city }],
};
const responses = {
  model,
  instructions: 'Be brief',
  input: 'Hi',
  max_output_tokens: 8000,
  temperature: 0.7,
  reasoning: { effort: 'low' },
  tools: [{ type: 'function', name: 'get_weather', parameters: city, strict: false }],
};
const formats = { '/chat/completions': chat, '/messages': messages, '/responses': responses } as const;

/** Data of the events of a stream. */
const dataOf = (text: string) =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Record<string, never>);

t.test('what the engine is sent', async (t) => {
  for (const [path, body] of Object.entries(formats)) {
    const number = server.requests.length;
    t.equal((await post(path, body)).status, 200);
    const request = server.requests[number];
    t.match(request?.head, /^POST \/v1\/messages HTTP\/1\.1\r\n/);
    t.match(request?.head, /\r\nanthropic-version: 2023-06-01\r\nx-api-key: far-secret\r\n/);
    t.notMatch(request?.head, /authorization/i);
    t.strictSame(
      asked(request),
      {
        model: 'writer-large',
        max_tokens: 8000,
        system: 'Be brief',
        messages: [{ role: 'user', content: 'Hi' }],
        temperature: 0.7,
        tools: [{ name: 'get_weather', input_schema: city }],
        thinking: { type: 'adaptive' },
        output_config: { effort: 'low' },
      },
      path,
    );
  }
  const number = server.requests.length;
  t.equal((await post('/chat/completions', { model: 'team/bearer', messages: chat.messages })).status, 200);
  t.match(server.requests[number]?.head, /\r\nauthorization: Bearer far-secret\r\n/, "the row's own header");
  t.notMatch(server.requests[number]?.head, /x-api-key/i);
});

t.test('whole answers', async (t) => {
  events.length = 0;
  const completion = await (await post('/chat/completions', chat)).json();
  t.match(completion, {
    choices: [
      {
        message: {
          content: 'Grüße 👋\n',
          reasoning: 'Hm "x"',
          tool_calls: [
            { id: 'call_01A', function: { name: 'get_weather', arguments: '{"city":"Oslo","days":[1,2]}' } },
            { id: /^call_[\da-f]{24}$/, function: { name: 'get_time', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
        native_finish_reason: 'tool_use',
      },
    ],
    usage: {
      prompt_tokens: 125,
      completion_tokens: 40,
      total_tokens: 165,
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 12 },
    },
  });
  t.match(await nextEvent(), {
    outcome: 'completed',
    quantities: { prompt_tokens: 125, completion_tokens: 40, cached_tokens: 100, reasoning_tokens: 12 },
    cost: '0.000435',
  });
  t.match(await (await post('/messages', messages)).json(), {
    content: [
      { type: 'thinking', thinking: 'Hm "x"', signature: /^[\w+/]{43}=c2ln$/ },
      { type: 'text', text: 'Grüße 👋\n' },
      { type: 'tool_use', id: 'toolu_01A', name: 'get_weather', input: { city: 'Oslo', days: [1, 2] } },
      { type: 'tool_use', id: /^toolu_[\da-f]{24}$/, name: 'get_time', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 25, cache_read_input_tokens: 100, output_tokens: 40 },
  });
  t.match(await (await post('/responses', responses)).json(), {
    status: 'completed',
    output: [
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm "x"' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Grüße 👋\n' }] },
      { type: 'function_call', call_id: 'call_01A', name: 'get_weather' },
      { type: 'function_call', name: 'get_time', arguments: '{}' },
    ],
    usage: { input_tokens: 125, input_tokens_details: { cached_tokens: 100 }, output_tokens: 40 },
  });
});

t.test('streams', async (t) => {
  const { tools: _, ...plain } = chat;
  const text = await (await post('/chat/completions', { ...plain, stream: true })).text();
  const deltas = dataOf(text).flatMap(({ choices }: { choices?: { delta: object }[] }) =>
    (choices ?? []).map(({ delta }) => delta as Record<string, string>),
  );
  const joinedField = (name: string) => deltas.map((delta) => delta[name] ?? '').join('');
  t.equal(joinedField('reasoning'), 'The user wants two "cities".\n');
  t.equal(joinedField('content'), 'Let me look.');
  t.notMatch(text, /"reasoning":""|signature/, 'the signature has no place in this format');
  t.match(dataOf(text).at(-1), { usage: { prompt_tokens: 25, completion_tokens: 15 } });
  t.match(text, /data: \[DONE\]\n\n$/);

  const { message } = readEvents(await (await post('/messages', { ...messages, stream: true })).text());
  t.match(message, {
    content: [
      {
        type: 'thinking',
        thinking: 'The user wants two "cities".\n',
        signature: /^[\w+/]{43}=EqQBCgIY.*==$/,
      },
      { type: 'text', text: 'Let me look.' },
      {
        type: 'tool_use',
        id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6',
        input: { city: 'São Paulo', note: 'a"b}' },
      },
      { type: 'tool_use', id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up7', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 25, output_tokens: 15 },
  });
  const last = dataOf(await (await post('/responses', { ...responses, stream: true })).text()).at(-1);
  t.match(last, {
    type: 'response.completed',
    response: {
      output: [
        { type: 'reasoning' },
        { type: 'message' },
        { type: 'function_call', call_id: 'call_01T1x1fJ34qAmk2tNTrN7Up6' },
        { type: 'function_call', call_id: 'call_01T1x1fJ34qAmk2tNTrN7Up7' },
      ],
    },
  });

  server.script = stream('anthropic-two-thoughts.sse');
  const two = readEvents(
    await (await post('/messages', { ...messages, stream: true, stop_sequences: ['###'] })).text(),
  );
  t.match(two.message, {
    content: [
      { type: 'thinking', thinking: 'One.', signature: /=c2lnMQ==$/ },
      { type: 'thinking', thinking: '', signature: /=c2lnMg==$/ },
      { type: 'text', text: 'Done' },
    ],
    stop_reason: 'stop_sequence',
    stop_sequence: '###',
  });
  server.script = answer;
});

t.test('thinking with its signature survives a round trip', async (t) => {
  for (const isStreamed of [false, true]) {
    server.script = isStreamed ? stream('anthropic-thinking-tools.sse') : answer;
    const text = await (await post('/messages', { ...messages, stream: isStreamed })).text();
    const first = isStreamed ? readEvents(text).message : (JSON.parse(text) as Message);
    const results = (first?.content ?? []).flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: 'x' }] : [],
    );
    server.script = answer;
    const goOn = async (content: unknown, change: object = {}) => {
      const number = server.requests.length;
      const turns = [
        ...messages.messages,
        { role: 'assistant', content },
        { role: 'user', content: results },
      ];
      const response = await post('/messages', { ...messages, messages: turns, ...change });
      t.equal(response.status, 200);
      return asked(server.requests[number]).messages[1].content;
    };
    const [thought, words, ...calls] = first?.content ?? [];
    const own = isStreamed
      ? { thinking: 'The user wants two "cities".\n', signature: /^EqQBCgIY/ }
      : { thinking: 'Hm "x"', signature: /^c2ln$/ };
    t.match(await goOn(first?.content), [{ type: 'thinking', ...own }, words, ...calls]);
    t.match((await goOn([words, thought, ...calls]))[1], own, 'it stays where it was');
    const signature = thought?.type === 'thinking' ? thought.signature : '';
    const forged = { ...thought, signature: `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}` };
    const others = [
      forged,
      { ...thought, signature: 'of another service' },
      { type: 'thinking', thinking: 'Hm' },
      { type: 'redacted_thinking', data: 'x' },
    ];
    for (const other of others)
      t.match((await goOn([other, words, ...calls]))[0], { type: 'text' }, 'others are left out');
    t.match((await goOn(first?.content, { model: 'team/other' }))[0], { type: 'text' }, 'another model');
    t.match((await goOn(first?.content, { thinking: { type: 'disabled' }, output_config: {} }))[0], {
      type: 'text',
    });
    const hidden = { ...thought, thinking: '' };
    t.match(
      (await goOn([hidden, words, ...calls]))[0],
      { thinking: '', signature: own.signature },
      'a thought that was not shown',
    );
  }
});

t.test('several answers are several calls', async (t) => {
  events.length = 0;
  const number = server.requests.length;
  const completion = await (await post('/chat/completions', { ...chat, n: 2 })).json();
  t.match(completion, {
    choices: [{ index: 0 }, { index: 1 }],
    usage: { prompt_tokens: 125, completion_tokens: 80 },
  });
  t.equal(server.requests.length - number, 2);
  t.match(await nextEvent(), { quantities: { prompt_tokens: 125, completion_tokens: 80 } });
});

t.test('what the format has no field for is a 400 that names it', async (t) => {
  const number = server.requests.length;
  const cases: readonly [string, object, RegExp][] = [
    ['/chat/completions', { ...chat, logprobs: true }, /^logprobs is not supported/],
    ['/chat/completions', { ...chat, seed: 7 }, /^seed is not supported/],
    ['/chat/completions', { ...chat, logit_bias: { 5: 1 } }, /^logit_bias is not supported/],
    [
      '/chat/completions',
      { ...chat, response_format: { type: 'json_object' } },
      /^response_format json_object is not supported/,
    ],
    ['/responses', { ...responses, top_logprobs: 2, include: ['message.output_text.logprobs'] }, /^logprobs/],
  ];
  for (const [path, body, message] of cases) {
    const response = await post(path, body);
    t.equal(response.status, 400);
    t.match(await response.json(), { error: { message, metadata: { error_type: 'unsupported_parameter' } } });
  }
  t.equal(server.requests.length, number, 'nothing was sent');
});

t.test('failures of the engine are failures of the request, and cost nothing', async (t) => {
  const midway: readonly [string, number, string][] = [
    ['ended-early.sse', 502, 'The engine ended its answer early'],
    ['vllm-stopped.sse', 502, 'The engine ended its answer early'],
    ['malformed.sse', 502, 'The engine sent an answer that cannot be read'],
    ['anthropic-overloaded.sse', 503, 'Overloaded'],
  ];
  for (const [name, code, message] of midway) {
    server.script = stream(name);
    for (const [path, body] of Object.entries(formats)) {
      events.length = 0;
      const response = await post(path, { ...body, stream: true });
      t.equal(response.status, 200, 'its head was sent with the first token');
      const text = await response.text();
      t.ok(
        dataOf(text).some((data) => JSON.stringify(data).includes(message)),
        `${name} ${path}`,
      );
      if (path === '/chat/completions') t.match(dataOf(text).at(-1), { error: { code, message } });
      t.match(await nextEvent(), { outcome: 'failed', cost: '0' });
    }
  }

  const early: readonly [string, Script, number, RegExp][] = [
    ['a cut connection', (request) => request.reset(), 502, /could not be reached/],
    [
      'an error event first',
      (request) => {
        request.streamHead();
        request.chunk('event: error\ndata: {"type":"error","error":{"type":"api_error","message":"No"}}\n\n');
        request.end();
      },
      502,
      /^No$|cannot be read/,
    ],
    ['a page', (request) => request.json(200, '<html>'), 502, /cannot be read/],
    [
      'an error with 200',
      (request) => request.json(200, fixture('anthropic-whole-error.json')),
      503,
      /Overloaded/,
    ],
    [
      'too long a prompt',
      (request) =>
        request.json(
          400,
          error('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
        ),
      400,
      /prompt is too long: 210000 tokens > 200000 maximum.*maximum context length is 200000 tokens/,
    ],
    [
      'a wrong request',
      (request) => request.json(400, error('invalid_request_error', 'temperature: must be at most 1')),
      400,
      /^temperature: must be at most 1$/,
    ],
    [
      'a wrong key',
      (request) => request.json(401, error('authentication_error', 'invalid x-api-key')),
      502,
      /could not answer/,
    ],
    [
      'an empty account',
      (request) => request.json(400, error('invalid_request_error', 'Your credit balance is too low')),
      502,
      /could not answer/,
    ],
    [
      'a failure',
      (request) => request.json(500, error('api_error', 'Internal server error')),
      502,
      /could not answer/,
    ],
  ];
  for (const [name, script, status, message] of early) {
    for (const isStreamed of [false, true]) {
      server.script = script;
      events.length = 0;
      const response = await post('/chat/completions', { ...chat, stream: isStreamed });
      t.equal(response.status, status, name);
      t.match(await response.json(), { error: { code: status, message } }, name);
      t.match(await nextEvent(), { outcome: 'failed', cost: '0' }, name);
      await recovered();
    }
  }
  t.ok(gateway.logLines.some(({ msg }) => msg === 'engine refuses the gateway'));

  for (const status of [429, 503, 529]) {
    server.script = (request) =>
      request.json(status, error('overloaded_error', 'Overloaded'), 'retry-after: 7\r\n');
    const response = await post('/messages', messages);
    t.equal(response.status, 503);
    t.equal(response.headers.get('retry-after'), '7');
    t.match(await response.json(), { type: 'error', error: { message: 'The model is busy, try again' } });
    await recovered();
  }
  server.script = answer;
});

const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });

/** The circuit of the one replica is closed again. */
const recovered = async () => {
  server.script = answer;
  await eventually(async () => (await post('/chat/completions', chat)).ok, 'a replica that recovered');
};

/** What is compared of completions and responses. */
interface Answer {
  readonly choices: readonly [
    { readonly message: { readonly content: string }; readonly finish_reason: string },
  ];
  readonly usage: object;
  readonly output: readonly [{ readonly content: object }];
}

t.test('another Sluice as an engine of the Messages format', async (t) => {
  const far = await startGateway();
  const near = await startGateway({
    env: { FAR_KEY: far.key },
    catalog: `
engines:
  far: { wire: anthropic, replicas: ['${far.url}'], key_env: FAR_KEY, probe: { path: /v1/models/count } }
models:
  far/chat: { engine: far, served_as: sluice/chat, context_length: 131072 }
  far/vision: { engine: far, served_as: sluice/vision, context_length: 131072, input_modalities: [text, image] }
  far/reasoner:
    engine: far
    served_as: sluice/reasoner
    context_length: 131072
    reasoning: { mandatory: false, supports_max_tokens: true, supported_efforts: [none, low, medium, high], default_effort: medium, default_enabled: true }
`,
  });
  t.teardown(async () => {
    await near.stop();
    await far.stop();
  });
  const user = (content: string) => [{ role: 'user' as const, content }];
  const get = async (path: string, body: object, from: TestGateway) =>
    (await (await post(path, body, from)).json()) as Answer;

  await t.test('chat and responses: the same text and usage as from the far gateway itself', async (t) => {
    const rows: readonly object[] = [
      { messages: user('/sim rate=max tokens=12\nGrüße "👋"') },
      { messages: user('/sim rate=max tokens=50\nHello'), stop: ['e'] },
      { messages: user('/sim rate=max tokens=50\nHello'), max_tokens: 7 },
      { messages: [{ role: 'system', content: 'Be brief' }, ...user('/sim rate=max tokens=5\nHello')] },
    ];
    for (const row of rows) {
      const [nearby, direct] = [
        await get('/chat/completions', { ...row, model: 'far/chat' }, near),
        await get('/chat/completions', { ...row, model: 'sluice/chat' }, far),
      ];
      t.equal(nearby.choices[0].message.content, direct.choices[0].message.content);
      t.equal(nearby.choices[0].finish_reason, direct.choices[0].finish_reason);
      t.strictSame(nearby.usage, direct.usage);
      const streamed = await (
        await post('/chat/completions', { ...row, model: 'far/chat', stream: true }, near)
      ).text();
      t.equal(
        dataOf(streamed)
          .map(
            ({ choices }: { choices?: { delta: { content?: string } }[] }) =>
              choices?.[0]?.delta.content ?? '',
          )
          .join(''),
        direct.choices[0].message.content,
      );
    }
    const input = '/sim rate=max tokens=9\nHello';
    const [nearby, direct] = [
      await get('/responses', { model: 'far/chat', input }, near),
      await get('/responses', { model: 'sluice/chat', input }, far),
    ];
    t.strictSame(nearby.output[0].content, direct.output[0].content);
  });

  await t.test('messages by their SDK: thinking, tools, a loop of both, images', async (t) => {
    const client = new Anthropic({ baseURL: near.root, apiKey: near.key, maxRetries: 0 });
    const tool = { name: 'weather', input_schema: { ...city, type: 'object' as const } };
    const ask = { model: 'far/reasoner', max_tokens: 4096, tools: [tool] };
    const question = user('/sim rate=max reasoning=9 calls=2\nWeather in "Oslo" and "Rome"?');
    const thinking = { type: 'enabled', budget_tokens: 1024 } as const;
    const first = await client.messages.stream({ ...ask, thinking, messages: question }).finalMessage();
    t.match(
      first.content.map(({ type }) => type),
      ['thinking', 'tool_use', 'tool_use'],
    );
    t.match(
      first.content[0],
      { signature: /^[\w+/]{43}=[\w+/]{43}=$/ },
      "the far one's, signed by the near one",
    );
    const results = first.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'Sunny' }]
        : [],
    );
    const again = await client.messages.create({
      ...ask,
      thinking,
      messages: [
        ...question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: results },
      ],
    });
    t.equal(again.stop_reason, 'end_turn');
    t.match(again.content.at(-1), { type: 'text', text: /\w/ });
    const off = await client.messages.create({ ...ask, messages: user('/sim rate=max tokens=9\nWhy?') });
    t.strictSame(
      off.content.map(({ type }) => type),
      ['text'],
    );
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const seen = await client.messages.create({
      model: 'far/vision',
      max_tokens: 1000,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
            { type: 'text', text: '/sim rate=max\nWhat is it?' },
          ],
        },
      ],
    });
    t.match(seen.content[0], { text: /You sent an image of 70 bytes, image\/png/ });
  });

  await t.test('failures and schemas', async (t) => {
    const failed = await post(
      '/chat/completions',
      { model: 'far/chat', messages: user('/sim fail=503\nHello') },
      near,
    );
    t.equal(failed.status, 503);
    const midway = await post(
      '/chat/completions',
      { model: 'far/chat', messages: user('/sim rate=max fail=503@2\nHello'), stream: true },
      near,
    );
    t.match(dataOf(await midway.text()).at(-1), { error: { code: 502 } });
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const shaped = await get(
      '/chat/completions',
      {
        model: 'far/chat',
        messages: user('/sim rate=max\nWhere?'),
        response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
      },
      near,
    );
    t.match(JSON.parse(shaped.choices[0].message.content), { city: /./ });
  });
});
