/** Tests the responses route through client SDKs over a real socket, served by the simulator. */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenRouter } from '@openrouter/sdk';
import type { InputsUnion } from '@openrouter/sdk/models';
import * as routerErrors from '@openrouter/sdk/models/errors';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import t from 'tap';
import { type Failure, testFailures, thrownAs } from '../envelope.ts';
import { startGateway } from '../gateway.ts';
import { thrownBy } from '../thrown-by.ts';
import { checkResponse, readEvents } from './read-events.ts';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const openai = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
const router = new OpenRouter({
  serverURL: gateway.url,
  apiKey: gateway.key,
  retryConfig: { strategy: 'none' },
});
const provider = createOpenAI({ baseURL: gateway.url, apiKey: gateway.key });

const model = 'sluice/chat';
const quote = (line: string) => `/sim rate=max text=${JSON.stringify(line)}\nGo on`;
const send = (body: object, method = 'POST', path = '/responses') =>
  fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  });

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;
const weather = {
  type: 'function',
  name: 'weather',
  description: 'The weather of a city',
  parameters: { ...parameters, required: [...parameters.required] },
  strict: true,
} satisfies OpenAI.Responses.FunctionTool;
const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const personFormat = { type: 'json_schema', name: 'person', strict: true, schema: person } as const;

t.test('reasoning.exclude: reasoning is billed and not sent', async (t) => {
  for (const stream of [false, true]) {
    const body = { model: 'sluice/reasoner', input: quote('Yes.'), stream, reasoning: { exclude: true } };
    const text = await (await send(body)).text();
    t.match(text, /"reasoning_tokens":[1-9]/);
    t.notMatch(text, /"type":"reasoning"|reasoning_text/);
  }
});

// ── openai ─────────────────────────────────────────────────────────────────────────────────────────

t.test('openai: create', async (t) => {
  const answer = await openai.responses.create({
    model,
    instructions: 'Be kind',
    input: quote('Hello "there"\n😀'),
    metadata: { a: 'b' },
    store: false,
    service_tier: 'auto',
  });
  t.equal(answer.output_text, 'Hello "there"\n😀');
  const { output_text: _, ...rest } = answer;
  const response = checkResponse(JSON.parse(JSON.stringify(rest)));
  t.match(response, {
    id: /^resp_/,
    status: 'completed',
    model,
    instructions: 'Be kind',
    metadata: { a: 'b' },
    output: [{ type: 'message', id: /^msg_/, status: 'completed' }],
  });
  t.equal(
    response.usage?.total_tokens,
    (response.usage?.input_tokens ?? 0) + (response.usage?.output_tokens ?? 0),
  );
  t.ok((response.completed_at ?? 0) >= response.created_at);
});

t.test('openai: stream', async (t) => {
  const input = quote('One two three\n"four" 😀');
  const types: string[] = [];
  let text = '';
  for await (const event of await openai.responses.create({ model, input, stream: true })) {
    types.push(event.type);
    if (event.type === 'response.output_text.delta') text += event.delta;
  }
  t.equal(text, 'One two three\n"four" 😀');
  t.same([types[0], types.at(-1)], ['response.created', 'response.completed']);

  const final = await openai.responses.stream({ model, input }).finalResponse();
  t.equal(final.output_text, 'One two three\n"four" 😀');
  t.match(final, { status: 'completed', usage: { output_tokens_details: { reasoning_tokens: 0 } } });

  const raw = await send({
    model: 'sluice/reasoner',
    input: '/sim rate=max reasoning=5 tokens=50',
    stream: true,
  });
  t.equal(raw.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  t.match(readEvents(await raw.text()).response.output, [{ type: 'reasoning' }, { type: 'message' }]);
});

t.test('openai: parse', async (t) => {
  const text = { format: personFormat };
  const answer = await openai.responses.parse({ model, input: 'Who?', text });
  t.match(answer.output_parsed, { name: String, age: Number });
  const streamed = await openai.responses.stream({ model, input: 'Who?', text }).finalResponse();
  t.match(JSON.parse(streamed.output_text), { name: String, age: Number });
  const object = await openai.responses.create({
    model,
    input: 'Who?',
    text: { format: { type: 'json_object' } },
  });
  t.type(JSON.parse(object.output_text), 'object');
});

t.test('openai: reasoning, the limit and logprobs', async (t) => {
  const input = '/sim rate=max reasoning=20 tokens=5\nWhy?';
  for (const thought of [
    await openai.responses.create({ model: 'sluice/reasoner', input }),
    await openai.responses.stream({ model: 'sluice/reasoner', input }).finalResponse(),
  ]) {
    t.match(thought.output, [
      { type: 'reasoning', id: /^rs_/, summary: [], content: [{ type: 'reasoning_text', text: /\w/ }] },
      { type: 'message' },
    ]);
    t.equal(thought.usage?.output_tokens_details.reasoning_tokens, 20);
  }
  const silent = await openai.responses.create({
    model: 'sluice/reasoner',
    input: '/sim rate=max\nWhy?',
    reasoning: { effort: 'none', summary: 'auto' },
  });
  t.match(silent, { output: [{ type: 'message' }], reasoning: { effort: 'none', summary: 'auto' } });

  const long = { model, input: '/sim rate=max tokens=40\nTell me', max_output_tokens: 10 };
  for (const cut of [
    await openai.responses.create(long),
    await openai.responses.stream(long).finalResponse(),
  ]) {
    t.match(cut, {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
      usage: { output_tokens: 10 },
    });
  }
  const filtered = await openai.responses.create({ model, input: '/sim rate=max finish=content_filter\nHm' });
  t.match(filtered, { status: 'incomplete', incomplete_details: { reason: 'content_filter' } });

  const chances = {
    model,
    input: quote('One two'),
    top_logprobs: 2,
    include: ['message.output_text.logprobs' as const],
  };
  for (const answer of [
    await openai.responses.create(chances),
    await openai.responses.stream(chances).finalResponse(),
  ]) {
    const [message] = answer.output;
    const [part] = message?.type === 'message' ? message.content : [];
    const tokens = (part?.type === 'output_text' && part.logprobs) || [];
    t.same(
      tokens.map(({ token, top_logprobs }) => [token, top_logprobs.length]),
      [
        ['One', 2],
        [' two', 2],
      ],
    );
  }
});

t.test('openai: a tool loop, four rounds', async (t) => {
  const clock: OpenAI.Responses.FunctionTool = {
    type: 'function',
    name: 'clock',
    parameters: null,
    strict: null,
  };
  const base = { model: 'sluice/reasoner', tools: [weather, clock] };
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'user', content: '/sim rate=max reasoning=3 calls=3\nCompare "Oslo", "Rome" and "Lima"' },
  ];
  const rounds: string[][] = [];
  for (let round = 0; round < 4; round++) {
    const params = { ...base, input, tool_choice: round < 3 ? ('required' as const) : ('none' as const) };
    const answer =
      round % 2 === 0
        ? await openai.responses.create(params)
        : await openai.responses.stream(params).finalResponse();
    t.equal(answer.status, 'completed');
    rounds.push(answer.output.map(({ type }) => type));
    for (const item of answer.output) {
      if (item.type !== 'function_call') continue;
      t.match(item, { id: /^fc_/, call_id: /^call_/, name: /^(weather|clock)$/, status: 'completed' });
      t.type(JSON.parse(item.arguments), 'object');
    }
    // Everything goes back as it came, thoughts included.
    for (const item of answer.output) {
      const { parsed_arguments: _, ...plain } = { parsed_arguments: null, ...item };
      input.push(plain as OpenAI.Responses.ResponseInputItem);
    }
    for (const [at, call_id] of answer.output
      .flatMap((each) => (each.type === 'function_call' ? each.call_id : []))
      .entries())
      input.push({ type: 'function_call_output', call_id, output: `result ${round}.${at}` });
    if (round === 3) t.match(answer.output_text, /result 2\.0/, 'the last answer knows the results');
  }
  t.same(rounds, [
    ['reasoning', 'function_call', 'function_call', 'function_call'],
    ['reasoning', 'function_call'],
    ['reasoning', 'function_call'],
    ['reasoning', 'message'],
  ]);
  const calls = input.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
  t.equal(new Set(calls).size, calls.length, 'each call has its own id');
});

t.test('openai: pictures and documents', async (t) => {
  const base64 = (...parts: (string | Buffer)[]) =>
    Buffer.concat(parts.map((part) => Buffer.from(part))).toString('base64');
  // Long enough to be parsed on a thread, where base64 stays bytes.
  const picture = base64(Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(400_000, 'picture'));
  const seen = await openai.responses.create({
    model: 'sluice/vision',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: `data:image/png;base64,${picture}`, detail: 'auto' },
        ],
      },
    ],
  });
  t.match(seen.output_text, /image.*image\/png/s);
  const read = await openai.responses.create({
    model,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: '/sim rate=max echo\nRead this:' },
          {
            type: 'input_file',
            filename: 'a.csv',
            file_data: `data:text/csv;base64,${base64('a,b\n1,2\n')}`,
          },
        ],
      },
    ],
  });
  t.match(read.output_text, /^Read this:\na\.csv\n\na.*b.*1.*2/s);
  const refused = await thrownBy(
    openai.responses.create({
      model: 'sluice/vision',
      input: [
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: 'https://127.0.0.1/a.png', detail: 'auto' }],
        },
      ],
    }),
  );
  t.match(refused, { status: 400, error: { message: /^input\[0\]\.content\[0\]\.image_url / } });
});

t.test('openai: typed errors', async (t) => {
  const ask = (fields: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>) => () =>
    openai.responses.create({ model, input: 'Hi', ...fields });
  const failing = (status: number) => ask({ input: `/sim fail=${status}@0` });
  const bad = (message: string | RegExp) => thrownAs(400, message, 'validation_error', 'invalid_request');
  const rows: readonly Failure[] = [
    [ask({ input: [] }), OpenAI.BadRequestError, bad('input must have at least 1 item')],
    [ask({ previous_response_id: 'resp_1' }), OpenAI.BadRequestError, bad(/^previous_response_id /)],
    [ask({ conversation: 'conv_1' }), OpenAI.BadRequestError, bad(/^conversation /)],
    [ask({ prompt: { id: 'pmpt_1' } }), OpenAI.BadRequestError, bad(/^prompt /)],
    [
      ask({ tools: [{ type: 'web_search' }], tool_choice: 'required' }),
      OpenAI.BadRequestError,
      bad(/^tool_choice needs tools that run here/),
    ],
    [
      ask({ input: [{ type: 'item_reference', id: 'msg_1' }] }),
      OpenAI.BadRequestError,
      bad(/^input\[0\]\.type item_reference /),
    ],
    [
      ask({ model: 'sluice/chat-small', input: 'word '.repeat(5000) }),
      OpenAI.BadRequestError,
      bad(/^prompt is too long: \d+ tokens > 4064 maximum\. .*; shorten input$/),
    ],
    [
      () => new OpenAI({ baseURL: gateway.url, apiKey: 'wrong' }).responses.create({ model, input: [] }),
      OpenAI.AuthenticationError,
      thrownAs(401, 'Invalid API key', 'auth_error', 'authentication'),
    ],
    [
      ask({ model: 'sluice/none' }),
      OpenAI.NotFoundError,
      thrownAs(404, /sluice\/none/, 'not_found_error', 'not_found'),
    ],
    [
      ask({ model: 'sluice/image' }),
      OpenAI.NotFoundError,
      thrownAs(404, /image/, 'not_found_error', 'not_found'),
    ],
    [failing(429), OpenAI.RateLimitError, thrownAs(429, /\w/, 'rate_limit_error', 'rate_limit_exceeded')],
    [failing(502), OpenAI.InternalServerError, thrownAs(502, /\w/, 'server_error', 'provider_unavailable')],
    [failing(504), OpenAI.InternalServerError, thrownAs(504, /\w/, 'timeout_error', 'timeout')],
    [
      () => openai.responses.create({ model, input: '/sim fail=503@0', stream: true }),
      OpenAI.InternalServerError,
      thrownAs(503, /\w/, 'server_error', 'provider_overloaded'),
    ],
    [
      ask({ input: '/sim rate=max tokens=50 fail=503@10' }),
      OpenAI.InternalServerError,
      thrownAs(503, /\w/, 'server_error', 'provider_overloaded'),
    ],
  ];
  await testFailures(t, rows);
});

t.test('openai: a failure after the first token', async (t) => {
  const params = { model, input: '/sim rate=max tokens=50 fail=503@10' };
  const events: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of await openai.responses.create({ ...params, stream: true })) events.push(event);
  t.match(events.slice(-2), [
    { type: 'error', code: 'provider_overloaded', message: 'Simulated failure 503', param: null },
    {
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_error', message: 'Simulated failure 503' },
        output: [{ status: 'incomplete', content: [{ text: /\w/ }] }],
      },
    },
  ]);
  t.match(await thrownBy(openai.responses.stream(params).finalResponse()), { code: 'provider_overloaded' });
  const dropped = await send({ model, input: '/sim rate=max tokens=50 drop@10', stream: true });
  t.match(readEvents(await dropped.text()), { error: { code: 'provider_unavailable' } });
});

t.test('openai: nothing is stored', async (t) => {
  const answer = await openai.responses.create({ model, input: quote('Hi') });
  const notKept = `There is no response ${answer.id}, or its time is over`;
  const missing = [
    [() => openai.responses.retrieve(answer.id), notKept],
    [() => openai.responses.delete(answer.id), notKept],
    [() => openai.responses.cancel(answer.id), notKept],
    [() => openai.responses.inputItems.list(answer.id), /\/responses\//],
    [() => openai.responses.inputTokens.count({ model, input: 'Hi' }), /\/responses\//],
    [() => openai.responses.compact({ model, input: 'Hi' }), /\/responses\//],
  ] as const;
  for (const [call, message] of missing) {
    const error = await thrownBy(call());
    t.ok(error instanceof OpenAI.NotFoundError, String(error));
    t.match(error, { error: { code: 404, type: 'not_found_error', message } });
  }
  const other = await send({}, 'GET');
  t.equal(other.status, 405);
  t.match(other.headers.get('allow'), /POST/);
  t.match(await other.json(), { error: { code: 405, type: 'invalid_request_error' } });
});

t.test('openai: namespaces and custom tools', async (t) => {
  const tools: OpenAI.Responses.Tool[] = [
    { type: 'custom', name: 'patch', description: 'Patches', format: { type: 'text' } },
    { type: 'namespace', name: 'maps', description: 'Maps', tools: [{ ...weather, strict: false }] },
    { type: 'web_search' },
  ];
  const input = (name: string) => `/sim rate=max tool=${name}\nIn "Oslo"?`;
  for (const [name, item] of [
    ['patch', { type: 'custom_tool_call', name: 'patch', input: 'Oslo' }],
    [
      'maps__weather',
      { type: 'function_call', name: 'weather', namespace: 'maps', arguments: '{"city":"Oslo"}' },
    ],
  ] as const) {
    const stream = openai.responses.stream({ model, input: input(name), tools });
    const streamed = await stream.finalResponse();
    t.match(streamed.output, [item]);
    const whole = await openai.responses.create({ model, input: input(name), tools });
    t.match(whole.output, [item]);
    const [call] = whole.output;
    if (call === undefined || !('call_id' in call)) throw new Error('no call');
    const output = { type: `${item.type}_output`, call_id: call.call_id };
    const second = await openai.responses.create({
      model,
      tools,
      input: [
        { role: 'user', content: input(name) },
        ...(whole.output as OpenAI.Responses.ResponseInput),
        { ...output, output: 'it rains' } as OpenAI.Responses.ResponseInputItem,
      ],
    });
    t.match(second.output_text, /it rains/);
  }
});

// ── @openrouter/sdk ────────────────────────────────────────────────────────────────────────────────

/** What it could not read of an answer it keeps aside, anywhere in it. */
const unread = (value: unknown): unknown[] => {
  if (typeof value !== 'object' || value === null) return [];
  if ('isUnknown' in value && value.isUnknown === true) return [value];
  return Object.values(value).flatMap(unread);
};

/** Their type leaves open which of the two an answer is. */
const eventsOf = async <Event>(answer: object | AsyncIterable<Event>): Promise<Event[]> => {
  if (!(Symbol.asyncIterator in answer)) throw new Error('no stream');
  const events: Event[] = [];
  for await (const event of answer) events.push(event);
  return events;
};

type RouterRequest = Parameters<typeof router.responses.send>[0]['responsesRequest'];

t.test('@openrouter/sdk', async (t) => {
  const requests: readonly (readonly [request: RouterRequest, output: unknown[]])[] = [
    [
      { model, input: quote('Hello'), instructions: 'Be kind', metadata: { a: 'b' }, temperature: 0.5 },
      [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }],
    ],
    [
      { model: 'sluice/reasoner', input: '/sim rate=max reasoning=3 text="Hello you"\nHi' },
      [
        { type: 'reasoning', content: [{ text: /\w/ }] },
        { type: 'message', content: [{ text: 'Hello you' }] },
      ],
    ],
    [
      {
        model,
        input: '/sim rate=max calls=2\nThe weather in "Oslo" and "Rome"?',
        tools: [weather, { type: 'function', name: 'clock', parameters: null }],
        toolChoice: 'auto',
        parallelToolCalls: true,
      },
      [
        { type: 'function_call', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', name: 'weather', arguments: '{"city":"Rome"}' },
      ],
    ],
    [
      { model, input: 'Weather?', tools: [weather], toolChoice: { type: 'function', name: 'weather' } },
      [{ type: 'function_call', callId: /^call_/, name: 'weather' }],
    ],
    [
      { model, input: 'Who?', text: { format: personFormat } },
      [{ type: 'message', content: [{ text: /^\{"name"/ }] }],
    ],
    [
      { model, input: quote('a b'), topLogprobs: 1 },
      [{ content: [{ logprobs: [{ token: 'a', topLogprobs: [{}] }, { token: ' b' }] }] }],
    ],
    [
      { model, input: '/sim rate=max tokens=40\nTell me', maxOutputTokens: 4 },
      [{ type: 'message', status: 'incomplete' }],
    ],
  ];
  for (const [responsesRequest, output] of requests) {
    const whole = await router.responses.send({ responsesRequest });
    t.same(unread(whole), [], 'all of it is understood');
    t.match(whole, { output, usage: { inputTokensDetails: { cachedTokens: 0 } } });

    const events = await eventsOf(
      await router.responses.send({ responsesRequest: { ...responsesRequest, stream: true } }),
    );
    t.same(unread(events), [], 'every event is understood');
    const last = events.at(-1);
    t.match(last?.type, /^response\.(completed|incomplete)$/);
    t.match(last, { response: { output, usage: { outputTokensDetails: {} } } });
  }

  const broken = await eventsOf(
    await router.responses.send({
      responsesRequest: { model, input: '/sim rate=max tokens=50 fail=502@5', stream: true },
    }),
  );
  t.same(unread(broken), []);
  t.match(broken.slice(-2), [
    { type: 'error', code: 'provider_unavailable' },
    { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
  ]);

  const rejected = (responsesRequest: RouterRequest) => thrownBy(router.responses.send({ responsesRequest }));
  t.ok((await rejected({ model, input: [] })) instanceof routerErrors.BadRequestResponseError);
  t.ok((await rejected({ model: 'x/y', input: 'Hi' })) instanceof routerErrors.NotFoundResponseError);
  t.ok(
    (await rejected({ model, input: '/sim fail=429@0' })) instanceof
      routerErrors.TooManyRequestsResponseError,
  );
  t.ok((await rejected({ model, input: '/sim fail=502@0' })) instanceof routerErrors.BadGatewayResponseError);
  t.ok(
    (await rejected({ model, input: '/sim fail=503@0', stream: true })) instanceof
      routerErrors.ServiceUnavailableResponseError,
  );
});

t.test('@openrouter/sdk: a tool loop, three rounds', async (t) => {
  const input: Extract<InputsUnion, readonly unknown[]> = [
    { role: 'user', content: '/sim rate=max reasoning=2 calls=2\nThe weather in "Oslo" and "Rome"?' },
  ];
  const rounds: (string | undefined)[][] = [];
  for (let round = 0; round < 3; round++) {
    const toolChoice = round < 2 ? 'required' : 'none';
    const whole = await router.responses.send({
      responsesRequest: { model: 'sluice/reasoner', input, tools: [weather], toolChoice, stream: false },
    });
    if (!('output' in whole)) throw new Error('no response');
    t.same(unread(whole), []);
    rounds.push(whole.output.map((item) => item.type));
    for (const item of whole.output) {
      if (item.type === 'reasoning') input.push(item);
      if (item.type !== 'function_call') continue;
      input.push({ ...item, id: item.id ?? '' });
      input.push({ type: 'function_call_output', callId: item.callId, output: `rain ${round}` });
    }
    if (round === 2) t.match(JSON.stringify(whole.output), /rain 1/);
  }
  t.same(rounds, [
    ['reasoning', 'function_call', 'function_call'],
    ['reasoning', 'function_call'],
    ['reasoning', 'message'],
  ]);
});

// ── ai ─────────────────────────────────────────────────────────────────────────────────────────────

t.test('ai with @ai-sdk/openai', async (t) => {
  const chat = provider.responses(model);
  const whole = await generateText({ model: chat, system: 'Be kind', prompt: quote('Hello'), maxRetries: 0 });
  t.match(whole, { text: 'Hello', finishReason: 'stop' });
  t.equal(whole.usage.outputTokens, 1);
  t.match(whole.response.id, /^resp_/);

  const streamed = streamText({
    model: provider('sluice/reasoner'),
    prompt: '/sim rate=max reasoning=3 text="Hello you"\nHi',
  });
  t.equal(await streamed.text, 'Hello you');
  t.equal((await streamed.reasoning).length, 1);
  t.match(await streamed.usage, { outputTokens: 5, outputTokenDetails: { reasoningTokens: 3 } });
  t.equal(await streamed.finishReason, 'stop');

  const cut = await generateText({
    model: chat,
    prompt: '/sim rate=max tokens=40\nTell me',
    maxOutputTokens: 5,
  });
  t.equal(cut.finishReason, 'length');

  const object = await generateText({
    model: chat,
    prompt: 'Who?',
    output: Output.object({
      schema: jsonSchema<{ name: string; age: number }>({ ...person, type: 'object' }),
    }),
  });
  t.match(object.output, { name: String, age: Number });

  const errors: unknown[] = [];
  const broken = streamText({
    model: chat,
    prompt: '/sim rate=max tokens=50 fail=503@5',
    onError: ({ error }) => {
      errors.push(error);
    },
  });
  await broken.consumeStream();
  t.match(errors, [{ message: 'Simulated failure 503' }], 'the failure in the stream is reported once');

  t.match(await thrownBy(generateText({ model: provider('x/y'), prompt: 'Hi', maxRetries: 0 })), {
    statusCode: 404,
  });
});

t.test('ai with @ai-sdk/openai: a tool loop', async (t) => {
  const asked: string[] = [];
  const tools = {
    weather: tool({
      inputSchema: jsonSchema<{ city: string }>(parameters),
      execute: async ({ city }) => {
        asked.push(city);
        return `rain in ${city}`;
      },
    }),
  };
  const settings = {
    tools,
    model: provider('sluice/reasoner'),
    stopWhen: stepCountIs(4),
    // Nothing is stored here, so that it must send what was said and not refer to it.
    providerOptions: { openai: { store: false } },
    prepareStep: ({ stepNumber }: { stepNumber: number }) => ({
      toolChoice: stepNumber < 3 ? ('required' as const) : ('none' as const),
    }),
    prompt: '/sim rate=max reasoning=2 calls=2\nThe weather in "Oslo" and "Rome"?',
  };
  const whole = await generateText(settings);
  t.same(
    whole.steps.map((step) => step.toolCalls.length),
    [2, 1, 1, 0],
  );
  t.match(whole.text, /rain in/);
  t.same(asked.slice(0, 2), ['Oslo', 'Rome']);

  const streamed = streamText(settings);
  t.match(await streamed.text, /rain in/);
  t.same(
    (await streamed.steps).map((step) => [step.toolCalls.length, step.finishReason]),
    [
      [2, 'tool-calls'],
      [1, 'tool-calls'],
      [1, 'tool-calls'],
      [0, 'stop'],
    ],
  );
});

t.test('ai with @ai-sdk/openai: a tool loop with its own settings refers to reasoning', async (t) => {
  const bodies: { input: unknown[] }[] = [];
  const watched = createOpenAI({
    baseURL: gateway.url,
    apiKey: gateway.key,
    fetch: (url, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return fetch(url, init);
    },
  });
  const settings = {
    model: watched('sluice/reasoner'),
    maxRetries: 0,
    stopWhen: stepCountIs(2),
    tools: { weather: tool({ inputSchema: jsonSchema(parameters), execute: async () => 'rain' }) },
    prompt: '/sim rate=max reasoning=2 calls=1\nThe weather in "Oslo"?',
  };
  const { steps, text } = await generateText(settings);
  t.equal(steps.length, 2);
  t.match(text, /rain/);
  t.match(bodies[1]?.input.slice(1), [
    { type: 'item_reference', id: /^rs_/ },
    { type: 'function_call', name: 'weather' },
    { type: 'function_call_output', output: 'rain' },
  ]);
  t.match(await streamText(settings).text, /rain/);
  t.match(bodies[3]?.input[1], { type: 'item_reference', id: /^rs_/ });
});

t.test('ai with @ai-sdk/openai: messages are not stored for reference', async (t) => {
  const message = (text: string) => ({ type: 'text' as const, text });
  const refused = await thrownBy(
    generateText({
      model: provider(model),
      maxRetries: 0,
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [{ ...message('Hello'), providerOptions: { openai: { itemId: 'msg_1' } } }],
        },
        { role: 'user', content: 'Go on' },
      ],
    }),
  );
  t.match(refused, {
    statusCode: 400,
    message: /^input\[1\]\.type item_reference is not supported.*store: false/,
  });
});
