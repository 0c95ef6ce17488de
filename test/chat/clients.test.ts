/** Tests the chat route through client SDKs over a real socket, served by the simulator. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import * as routerErrors from '@openrouter/sdk/models/errors';
import { generateText, jsonSchema, Output, streamText, tool } from 'ai';
import OpenAI from 'openai';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { ChatChunk, ChatCompletion } from '../../schemas/chat/response.ts';
import { type Failure, testFailures, thrownAs } from '../envelope.ts';
import { startGateway } from '../gateway.ts';
import { thrownBy } from '../thrown-by.ts';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const openai = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
const router = new OpenRouter({
  serverURL: gateway.url,
  apiKey: gateway.key,
  retryConfig: { strategy: 'none' },
});
const compatible = createOpenAICompatible({
  name: 'sluice',
  baseURL: gateway.url,
  apiKey: gateway.key,
  supportsStructuredOutputs: true,
});
const routed = createOpenRouter({ baseURL: gateway.url, apiKey: gateway.key });
const providers = [
  { name: 'openai-compatible', chatModel: (id: string) => compatible.chatModel(id) },
  { name: 'openrouter', chatModel: (id: string) => routed.chat(id) },
];

const model = 'sluice/chat';
const say = (content: string) => [{ role: 'user' as const, content }];
const quote = (line: string) => say(`/sim rate=max text=${JSON.stringify(line)}\nGo on`);
const isCompletion = Compile(ChatCompletion);
const isChunk = Compile(ChatChunk);

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
    strict: true,
  },
} satisfies OpenAI.ChatCompletionFunctionTool;
const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
} as const;

t.test('openai: create', async (t) => {
  const answer = await openai.chat.completions.create({ model, messages: quote('Hello "there"\n😀') });
  t.ok(isCompletion.Check(answer), JSON.stringify(isCompletion.Errors(answer)));
  t.match(answer, {
    object: 'chat.completion',
    model,
    system_fingerprint: null,
    provider: 'Sluice',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello "there"\n😀', reasoning: null, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
        native_finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  });
  t.match(answer.id, /^chatcmpl-/);
  t.notOk('tool_calls' in (answer.choices[0]?.message ?? {}));
  t.equal(
    answer.usage?.total_tokens,
    (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0),
  );
});

t.test('openai: stream', async (t) => {
  const messages = quote('One two three\n"four" 😀');
  const params = { model, messages, stream: true } as const;

  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of await openai.chat.completions.create(params)) chunks.push(chunk);
  t.ok(chunks.every((chunk) => isChunk.Check(chunk)));
  t.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'One two three\n"four" 😀');
  t.same(
    chunks.filter((chunk) => chunk.usage),
    [chunks.at(-1)],
    'usage once, on the finish',
  );
  t.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop');

  const asked: OpenAI.ChatCompletionChunk[] = [];
  const stream = await openai.chat.completions.create({ ...params, stream_options: { include_usage: true } });
  for await (const chunk of stream) asked.push(chunk);
  t.same(asked.at(-1)?.choices, [], 'usage in a chunk of its own when asked for');
  t.ok(asked.at(-1)?.usage);
  t.equal(asked.at(-2)?.usage, undefined);

  const whole = await openai.chat.completions.stream({ model, messages, n: 2 }).finalChatCompletion();
  t.same(
    whole.choices.map((choice) => choice.message.content),
    ['One two three\n"four" 😀', 'One two three\n"four" 😀'],
  );
  t.same(
    whole.choices.map((choice) => choice.finish_reason),
    ['stop', 'stop'],
  );
});

t.test('openai: parse', async (t) => {
  const answer = await openai.chat.completions.parse({
    model,
    messages: say('Who?'),
    response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: person } },
  });
  const parsed: unknown = answer.choices[0]?.message.parsed;
  t.match(parsed, { name: String, age: Number });
});

t.test('openai: tools, there and back', async (t) => {
  const params = {
    model,
    messages: say('Weather in Oslo?'),
    tools: [weather],
    tool_choice: 'required',
  } satisfies OpenAI.ChatCompletionCreateParamsNonStreaming;
  const whole = await openai.chat.completions.create(params);
  const message = whole.choices[0]?.message;
  t.equal(whole.choices[0]?.finish_reason, 'tool_calls');
  const [call] = message?.tool_calls ?? [];
  t.match(call, { id: /^call_/, type: 'function', function: { name: 'weather' } });
  t.match(JSON.parse(call?.type === 'function' ? call.function.arguments : ''), { city: String });

  const streamed = await openai.chat.completions.stream(params).finalChatCompletion();
  t.same(streamed.choices[0]?.message.tool_calls?.[0]?.function.name, 'weather');
  t.equal(streamed.choices[0]?.finish_reason, 'tool_calls');

  const back = await openai.chat.completions.create({
    model,
    tools: [weather],
    tool_choice: 'none',
    messages: [
      ...params.messages,
      message ?? { role: 'assistant' },
      { role: 'tool', tool_call_id: call?.id ?? '', content: 'Rain' },
    ],
  });
  t.equal(back.choices[0]?.finish_reason, 'stop');
  t.ok(back.choices[0]?.message.content);
});

t.test('openai: logprobs', async (t) => {
  const params = { model, messages: quote('One two'), logprobs: true, top_logprobs: 2 } as const;
  const whole = await openai.chat.completions.create(params);
  const content = whole.choices[0]?.logprobs?.content ?? [];
  t.equal(content.map((each) => each.token).join(''), 'One two');
  t.ok(content.every((each) => each.top_logprobs.length === 2));
  const streamed = await openai.chat.completions.stream(params).finalChatCompletion();
  t.same(streamed.choices[0]?.logprobs?.content, content);
});

t.test('openai: reasoning, the limit, stop and continuation', async (t) => {
  const thought = await openai.chat.completions.create({
    model: 'sluice/reasoner',
    messages: say('/sim rate=max reasoning=20 tokens=5\nWhy?'),
  });
  t.match(thought.choices[0]?.message, { reasoning: /\w/ });
  t.equal(thought.usage?.completion_tokens_details?.reasoning_tokens, 20);

  const silent = await openai.chat.completions.create({
    model: 'sluice/reasoner',
    messages: say('/sim rate=max\nWhy?'),
    reasoning_effort: 'none',
  });
  t.match(silent.choices[0]?.message, { reasoning: null });

  const question = say('/sim rate=max tokens=40\nTell me of the sea');
  const all = await openai.chat.completions.create({ model, messages: question });
  const first = await openai.chat.completions.create({
    model,
    messages: question,
    max_completion_tokens: 10,
  });
  t.equal(first.choices[0]?.finish_reason, 'length');
  const begun = first.choices[0]?.message.content ?? '';
  const rest = await openai.chat.completions.create({
    model,
    messages: [...question, { role: 'assistant', content: `${begun}  \n` }],
  });
  t.equal(
    begun + rest.choices[0]?.message.content,
    all.choices[0]?.message.content,
    'only the new text came back',
  );

  const stopped = await openai.chat.completions.create({
    model,
    messages: quote('a b c STOP d'),
    stop: ['STOP'],
  });
  t.equal(stopped.choices[0]?.message.content, 'a b c ');
});

t.test('openai: a small window cuts the answer, a full one refuses', async (t) => {
  const cut = await openai.chat.completions.create({
    model: 'sluice/chat-small',
    messages: say(`/sim rate=max tokens=4000\n${'word '.repeat(3000)}`),
  });
  t.equal(cut.choices[0]?.finish_reason, 'length');
  t.match(
    await thrownBy(
      openai.chat.completions.create({ model: 'sluice/chat-small', messages: say('word '.repeat(5000)) }),
    ),
    {
      status: 400,
      error: {
        message:
          /^prompt is too long: 500\d tokens > 4064 maximum\. This model's maximum context length is 4096 tokens; shorten messages$/,
        metadata: { error_type: 'invalid_request', code: 'context_length_exceeded' },
      },
    },
  );
});

t.test('openai: reasoning that is left out is billed all the same', async (t) => {
  const asked = { model: 'sluice/reasoner', messages: say('/sim rate=max reasoning=9 tokens=5\nGo on') };
  const shown = await openai.chat.completions.create(asked);
  t.match(shown.choices[0]?.message, { reasoning: /\w/ });
  t.equal(shown.usage?.completion_tokens_details?.reasoning_tokens, 9);
  for (const how of [{ include_reasoning: false }, { reasoning: { exclude: true } }]) {
    const hidden = await openai.chat.completions.create({ ...asked, ...how });
    t.ok(isCompletion.Check(hidden), JSON.stringify(isCompletion.Errors(hidden)));
    const { content, ...rest } = hidden.choices[0]?.message ?? {};
    t.same(
      [content, rest],
      [shown.choices[0]?.message.content, { role: 'assistant', reasoning: null, refusal: null }],
    );
    t.same(hidden.usage, shown.usage);

    const chunks: OpenAI.ChatCompletionChunk[] = [];
    const stream = await openai.chat.completions.create({ ...asked, ...how, stream: true });
    for await (const chunk of stream) chunks.push(chunk);
    t.ok(chunks.every((chunk) => isChunk.Check(chunk)));
    t.notOk(chunks.some(({ choices }) => choices.some(({ delta }) => 'reasoning' in delta)));
    t.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), content);
    t.same(chunks.at(-1)?.usage, shown.usage);
  }
});

t.test('openai: pictures, sound and documents', async (t) => {
  const base64 = (...parts: (string | Buffer)[]) =>
    Buffer.concat(parts.map((part) => Buffer.from(part))).toString('base64');
  // Long enough to be parsed on a thread, where base64 stays bytes.
  const picture = base64(Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(400_000, 'picture'));
  const seen = await openai.chat.completions.create({
    model: 'sluice/vision',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What are these?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
          { type: 'input_audio', input_audio: { data: base64('RIFF\0\0\0\0WAVEfmt '), format: 'wav' } },
        ],
      },
    ],
  });
  t.match(seen.choices[0]?.message.content, /image.*image\/png.*audio.*audio\/wav/s);

  const read = await openai.chat.completions.create({
    model,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '/sim rate=max echo\nRead this:' },
          {
            type: 'file',
            file: { filename: 'a.csv', file_data: `data:text/csv;base64,${base64('a,b\n1,2\n')}` },
          },
        ],
      },
    ],
  });
  t.match(read.choices[0]?.message.content, /^Read this:\na\.csv\n\na.*b.*1.*2/s);

  const refused = (url: string) =>
    thrownBy(
      openai.chat.completions.create({
        model: 'sluice/vision',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
      }),
    );
  const field = /^messages\[0\]\.content\[0\]\.image_url\.url /;
  for (const url of [
    'https://127.0.0.1/a.png',
    'http://example.com/a.png',
    'file:///etc/passwd',
    'data:image/png;base64,!',
    '',
  ]) {
    t.match(await refused(url), { status: 400, error: { message: field } }, url);
  }
});

t.test('openai: typed errors', async (t) => {
  const failing = (status: number) =>
    openai.chat.completions.create({ model, messages: say(`/sim fail=${status}@0`) });
  const rows: readonly Failure[] = [
    [
      () => openai.chat.completions.create({ model, messages: [] }),
      OpenAI.BadRequestError,
      thrownAs(400, 'messages must have at least 1 item', 'validation_error', 'invalid_request'),
    ],
    [
      () =>
        new OpenAI({ baseURL: gateway.url, apiKey: 'wrong' }).chat.completions.create({
          model,
          messages: [],
        }),
      OpenAI.AuthenticationError,
      thrownAs(401, 'Invalid API key', 'auth_error', 'authentication'),
    ],
    [
      () => openai.chat.completions.create({ model: 'sluice/none', messages: say('Hi') }),
      OpenAI.NotFoundError,
      thrownAs(404, /sluice\/none/, 'not_found_error', 'not_found'),
    ],
    [
      () => openai.chat.completions.create({ model: 'sluice/image', messages: say('Hi') }),
      OpenAI.NotFoundError,
      thrownAs(404, /image/, 'not_found_error', 'not_found'),
    ],
    [
      () => failing(429),
      OpenAI.RateLimitError,
      thrownAs(429, /\w/, 'rate_limit_error', 'rate_limit_exceeded'),
    ],
    [
      () => failing(502),
      OpenAI.InternalServerError,
      thrownAs(502, /\w/, 'server_error', 'provider_unavailable'),
    ],
    [
      () => failing(503),
      OpenAI.InternalServerError,
      thrownAs(503, /\w/, 'server_error', 'provider_overloaded'),
    ],
    [() => failing(504), OpenAI.InternalServerError, thrownAs(504, /\w/, 'timeout_error', 'timeout')],
    [
      () => openai.chat.completions.create({ model, messages: say('/sim fail=503@0'), stream: true }),
      OpenAI.InternalServerError,
      thrownAs(503, /\w/, 'server_error', 'provider_overloaded'),
    ],
    [
      () => openai.chat.completions.create({ model, messages: say('/sim rate=max tokens=50 fail=503@10') }),
      OpenAI.InternalServerError,
      thrownAs(503, /\w/, 'server_error', 'provider_overloaded'),
    ],
  ];
  await testFailures(t, rows);
});

t.test('openai: a failure after the first token', async (t) => {
  const stream = await openai.chat.completions.create({
    model,
    messages: say('/sim rate=max tokens=50 fail=503@10'),
    stream: true,
  });
  let received = '';
  const error: unknown = await (async () => {
    for await (const chunk of stream) received += chunk.choices[0]?.delta.content ?? '';
  })().catch((thrown: unknown) => thrown);
  t.ok(error instanceof OpenAI.APIError);
  t.match(error, { code: 503, type: 'server_error' });
  t.ok(received.length > 0, 'the text before it arrived');
});

/** Their type leaves open which of the two an answer is. */
const chunksOf = <Chunk>(answer: object | AsyncIterable<Chunk>): AsyncIterable<Chunk> => {
  if (Symbol.asyncIterator in answer) return answer;
  throw new Error('no stream');
};

t.test('@openrouter/sdk', async (t) => {
  const whole = await router.chat.send({ chatRequest: { model, messages: quote('Hello') } });
  t.match(whole, {
    choices: [{ message: { content: 'Hello' }, finishReason: 'stop' }],
    usage: { completionTokens: 1 },
  });

  const stream = await router.chat.send({
    chatRequest: {
      model: 'sluice/reasoner',
      messages: say('/sim rate=max reasoning=3 text="Hello you"\nHi'),
      stream: true,
    },
  });
  const deltas: string[] = [];
  let usage: unknown;
  for await (const chunk of chunksOf(stream)) {
    const delta = chunk.choices[0]?.delta;
    if (delta?.reasoning) deltas.push('thought');
    if (delta?.content) deltas.push(delta.content);
    usage = chunk.usage ?? usage;
  }
  t.same(deltas, ['thought', 'thought', 'thought', 'Hello', ' you']);
  t.match(usage, { completionTokensDetails: { reasoningTokens: 3 } });

  const called = await router.chat.send({
    chatRequest: { model, messages: say('Oslo?'), tools: [weather], toolChoice: 'required' },
  });
  t.match(called, {
    choices: [{ message: { toolCalls: [{ id: /^call_/, function: { name: 'weather' } }] } }],
  });

  const logs = await router.chat.send({
    chatRequest: { model, messages: quote('a b'), logprobs: true, topLogprobs: 1 },
  });
  t.match(logs, { choices: [{ logprobs: { content: [{ token: 'a' }, { token: ' b' }] } }] });

  const broken = await router.chat.send({
    chatRequest: { model, messages: say('/sim rate=max tokens=50 fail=502@5'), stream: true },
  });
  const errors: unknown[] = [];
  for await (const chunk of chunksOf(broken)) if (chunk.error !== undefined) errors.push(chunk.error);
  t.match(errors, [{ code: 502 }]);

  const rejected = (chatRequest: Parameters<typeof router.chat.send>[0]['chatRequest']) =>
    thrownBy(router.chat.send({ chatRequest }));
  t.ok((await rejected({ model, messages: [] })) instanceof routerErrors.BadRequestResponseError);
  t.ok((await rejected({ model: 'x/y', messages: say('Hi') })) instanceof routerErrors.NotFoundResponseError);
  t.ok(
    (await rejected({ model, messages: say('/sim fail=429@0') })) instanceof
      routerErrors.TooManyRequestsResponseError,
  );
  t.ok(
    (await rejected({ model, messages: say('/sim fail=502@0') })) instanceof
      routerErrors.BadGatewayResponseError,
  );
  t.ok(
    (await rejected({ model, messages: say('/sim fail=503@0') })) instanceof
      routerErrors.ServiceUnavailableResponseError,
  );
});

for (const { name, chatModel } of providers) {
  t.test(`ai with ${name}`, async (t) => {
    const chat = chatModel(model);
    const whole = await generateText({
      model: chat,
      prompt: quote('Hello')[0]?.content ?? '',
      maxRetries: 0,
    });
    t.equal(whole.text, 'Hello');
    t.equal(whole.finishReason, 'stop');
    t.equal(whole.usage.outputTokens, 1);

    const streamed = streamText({
      model: chatModel('sluice/reasoner'),
      prompt: '/sim rate=max reasoning=3 text="Hello you"\nHi',
    });
    t.equal(await streamed.text, 'Hello you');
    t.match(await streamed.reasoningText, /\w/);
    t.equal((await streamed.usage).outputTokens, 5);

    const object = await generateText({
      model: chat,
      prompt: 'Who?',
      output: Output.object({ schema: jsonSchema<{ name: string; age: number }>(person) }),
    });
    t.match(object.output, { name: String, age: Number });

    const called = await generateText({
      model: chat,
      prompt: 'Oslo?',
      toolChoice: 'required',
      tools: { weather: tool({ inputSchema: jsonSchema<{ city: string }>(weather.function.parameters) }) },
    });
    t.match(called.toolCalls, [{ toolName: 'weather', input: { city: String } }]);

    const errors: unknown[] = [];
    const broken = streamText({
      model: chat,
      prompt: '/sim rate=max tokens=50 fail=503@5',
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    await broken.consumeStream();
    t.equal(errors.length, 1, 'the failure in the stream is reported');

    t.match(await thrownBy(generateText({ model: chatModel('x/y'), prompt: 'Hi', maxRetries: 0 })), {
      statusCode: 404,
    });
  });
}
