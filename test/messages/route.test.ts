/** Tests the messages route over a real socket: images, AI SDK, limits and chained gateways. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import t from 'tap';
import type { Message, OutputBlock } from '../../schemas/messages/response.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { startGateway } from '../gateway.ts';
import { pdf, shown } from '../offload/sample-documents.ts';
import { thrownBy } from '../thrown-by.ts';
import { readEvents } from './read-events.ts';
import { city, messageOf, quote, say, textOf, weather } from './sample-messages.ts';

const gateway = await startGateway({ env: { SLUICE_ALLOW_PRIVATE_URLS: '1' } });
t.teardown(() => gateway.stop());

const client = new Anthropic({ baseURL: gateway.root, apiKey: gateway.key, maxRetries: 0 });
const model = 'sluice/chat';
const ask = { model, max_tokens: 1000 };

t.test('images', async (t) => {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const image = {
    type: 'image' as const,
    source: { type: 'base64' as const, media_type: 'image/png' as const, data: pixel },
  };
  const question = { type: 'text' as const, text: '/sim rate=max\nWhat is it?' };
  const seen = await client.messages.create({
    ...ask,
    model: 'sluice/vision',
    messages: [{ role: 'user', content: [image, question] }],
  });
  t.match(textOf(messageOf(seen)), 'You sent an image of 70 bytes, image/png');
  const result = await client.messages.create({
    ...ask,
    model: 'sluice/vision',
    tools: [{ ...weather, input_schema: { ...city, required: [...city.required] } }],
    messages: [
      { role: 'user', content: 'Look outside' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [image] }, question],
      },
    ],
  });
  t.match(textOf(messageOf(result)), 'You sent an image of 70 bytes, image/png');

  const server = createServer((_, response) => response.end(Buffer.from(pixel, 'base64')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const from = (url: string) =>
    client.messages.create({
      ...ask,
      model: 'sluice/vision',
      messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }, question] }],
    });
  const fetched = await from(`http://127.0.0.1:${port}/pixel.png`);
  t.match(textOf(messageOf(fetched)), 'You sent an image of 70 bytes, image/png');
  t.match(await thrownBy(from('file:///etc/passwd')), {
    status: 400,
    message: /messages\[0\]\.content\[0\]\.source\.url/,
  });
});

t.test('documents', async (t) => {
  const data = pdf([shown('Zebras graze at dawn.')]).toString('base64');
  const source = { type: 'base64' as const, media_type: 'application/pdf' as const, data };
  const question = { type: 'text' as const, text: '/sim rate=max tokens=40\n' };
  const server = createServer((_, response) => response.end(Buffer.from(data, 'base64')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const counts: number[] = [];
  for (const each of [
    source,
    { type: 'url' as const, url: `http://127.0.0.1:${port}/zebras.pdf` },
    { type: 'text' as const, media_type: 'text/plain' as const, data: 'Zebras graze at dawn.' },
    { type: 'content' as const, content: 'Zebras graze at dawn.' },
  ]) {
    const params = {
      model,
      messages: [
        {
          role: 'user' as const,
          content: [
            question,
            { type: 'document' as const, source: each, title: 'Savanna', citations: { enabled: true } },
          ],
        },
      ],
    };
    const answer = messageOf(await client.messages.create({ ...params, max_tokens: 1000 }));
    t.match(textOf(answer), /Savanna.*Zebras.*graze/, each.type);
    const { input_tokens } = await client.messages.countTokens(params);
    t.equal(answer.usage.input_tokens, input_tokens, 'counted the same');
    counts.push(input_tokens);
  }
  t.equal(new Set(counts.slice(0, 3)).size, 1, `the same text from every source: ${counts}`);

  const result = await client.messages.create({
    ...ask,
    tools: [{ ...weather, input_schema: { ...city, required: [...city.required] } }],
    messages: [
      { role: 'user', content: '/sim rate=max\nRead it' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [
              { type: 'document', source },
              {
                type: 'search_result',
                source: 'https://a.example/zebras',
                title: 'Zebras',
                content: [{ type: 'text', text: 'They sleep standing.' }],
              },
            ],
          },
        ],
      },
    ],
  });
  t.match(
    textOf(messageOf(result)),
    /According to weather: document\n\nZebras graze at dawn\.\s*Zebras\nhttps:\/\/a\.example\/zebras\n\nThey sleep standing\./,
  );

  const refused = await thrownBy(
    client.messages.create({
      ...ask,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { ...source, data: Buffer.from('%PDF-1.4 x').toString('base64') } },
          ],
        },
      ],
    }),
  );
  t.match(refused, { status: 400, message: /messages\[0\]\.content\[0\]\.source\.data: the PDF is damaged/ });
});

t.test('ai with @ai-sdk/anthropic', async (t) => {
  const provider = createAnthropic({ baseURL: gateway.url, apiKey: gateway.key });
  const chat = provider(model);
  const whole = await generateText({ model: chat, prompt: quote('Hello')[0]?.content ?? '', maxRetries: 0 });
  t.match(whole, { text: 'Hello', finishReason: 'stop' });
  t.equal(whole.usage.outputTokens, 1);

  const streamed = streamText({
    model: provider('sluice/reasoner'),
    prompt: '/sim rate=max reasoning=3 text="Hello you"\nHi',
    providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } },
  });
  t.equal(await streamed.text, 'Hello you');
  t.match(await streamed.reasoningText, /\w/);
  t.equal((await streamed.usage).outputTokens, 5);
  t.equal(await streamed.finishReason, 'stop');

  const person = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
    additionalProperties: false,
  } as const;
  for (const structuredOutputMode of ['jsonTool', 'outputFormat']) {
    const object = await generateText({
      model: chat,
      prompt: 'Who?',
      output: Output.object({ schema: jsonSchema<{ name: string; age: number }>(person) }),
      providerOptions: { anthropic: { structuredOutputMode } },
    });
    t.match(object.output, { name: String, age: Number }, structuredOutputMode);
  }

  const asked: string[] = [];
  const tools = {
    weather: tool({
      inputSchema: jsonSchema<{ city: string }>(city),
      execute: ({ city }) => {
        asked.push(city);
        return `Rain in ${city}`;
      },
    }),
  };
  const prompt = '/sim rate=max calls=2\nWeather in "Oslo" and "Rome"?';
  const looped = await generateText({ model: chat, prompt, tools, stopWhen: stepCountIs(4) });
  t.same(asked, ['Oslo', 'Rome']);
  t.match(looped.text, /According to weather: .*Rain in Oslo.*According to weather: .*Rain in Rome/);
  const looping = streamText({ model: chat, prompt, tools, stopWhen: stepCountIs(4) });
  t.match(await looping.text, /Rain in Rome/);
  t.equal(asked.length, 4);

  const failures: unknown[] = [];
  const broken = streamText({
    model: chat,
    prompt: '/sim rate=max tokens=50 fail=503@5',
    onError: ({ error }) => {
      failures.push(error);
    },
  });
  await broken.consumeStream();
  t.equal(failures.length, 1, 'the failure in the stream is reported');
  t.match(await thrownBy(generateText({ model: provider('x/y'), prompt: 'Hi', maxRetries: 0 })), {
    statusCode: 404,
    data: { type: 'error', error: { type: 'not_found_error' } },
  });
});

t.test('without a client', async (t) => {
  const post = (path: string, init: RequestInit & { headers?: Record<string, string> }) =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      ...init,
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', ...init.headers },
    });
  const refused = async (answer: Response) => ({
    status: answer.status,
    body: (await answer.json()) as unknown,
  });
  const error = (status: number, type: string, message: string | RegExp) => ({
    status,
    body: { type: 'error', error: { type, message }, request_id: /^req_/ },
  });
  const body = JSON.stringify({ ...ask, messages: quote('Hello') });

  const stream = await post('/messages?beta=true', {
    body: JSON.stringify({ ...JSON.parse(body), stream: true }),
    headers: { 'anthropic-version': 'of tomorrow', 'anthropic-beta': 'x-2026-01-01' },
  });
  t.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  t.match(readEvents(await stream.text()), { message: { content: [{ text: 'Hello' }] } });

  t.match(
    await refused(await post('/messages', { body: '{' })),
    error(400, 'invalid_request_error', /not valid JSON/),
  );
  t.match(
    await refused(await post('/messages', { body, headers: { 'x-api-key': '' } })),
    error(401, 'authentication_error', 'No API key provided'),
  );
  t.match(
    await refused(await post('/messages', { body, headers: { 'x-api-key': 'wrong' } })),
    error(401, 'authentication_error', 'Invalid API key'),
  );
  t.match(
    await refused(await post('/messages/batches', { body })),
    error(404, 'not_found_error', 'No route for POST /v1/messages/batches'),
  );
  const wrong = await post('/messages', { method: 'PUT', body });
  t.equal(wrong.headers.get('allow'), 'POST, OPTIONS');
  t.match(await refused(wrong), error(405, 'invalid_request_error', /^PUT is not allowed/));

  const thread = { type: 'continue', previous_message_id: 'msg_1' };
  t.strictSame(
    await refused(await post('/messages', { body: JSON.stringify({ ...ask, messages: [], thread }) })).then(
      ({ status, body }) => ({ status, body: { ...(body as object), request_id: '' } }),
    ),
    {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'thread is not supported: nothing is stored; send the whole conversation',
          details: { error_code: 'thread_unsupported_request' },
        },
        request_id: '',
      },
    },
  );

  const large = request(`${gateway.url}/messages`, {
    method: 'POST',
    agent: false,
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'content-length': 2 ** 30 },
  });
  large.on('error', () => {});
  large.flushHeaders();
  const [response] = (await once(large, 'response')) as [IncomingMessage];
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  large.destroy();
  t.match(
    { status: response.statusCode, body: JSON.parse(text) },
    error(413, 'request_too_large', /134217728/),
  );
});

t.test('too many requests', async (t) => {
  const busy = await startGateway({
    catalog: `models:\n  one/chat: { engine: simulator, context_length: 4096, limits: { requests_per_minute: 1 } }\n`,
  });
  t.teardown(() => busy.stop());
  const client = new Anthropic({ baseURL: busy.root, apiKey: busy.key, maxRetries: 0 });
  const params = { model: 'one/chat', max_tokens: 5, messages: say('Hi') };
  await client.messages.create(params);
  const error = await thrownBy(client.messages.create(params));
  t.ok(error instanceof Anthropic.RateLimitError);
  if (!(error instanceof Anthropic.RateLimitError)) return;
  t.match(error.headers.get('retry-after'), /^[1-9]\d?$/);
  t.match(error.error, { type: 'error', error: { type: 'rate_limit_error' } });

  const management = createKeyManagement(busy.ports.state);
  const withKeyOf = async (subscription: string) => {
    const { secret } = await management.createKey({ subscription });
    return new Anthropic({ baseURL: busy.root, apiKey: secret, maxRetries: 0 }).messages.create(params);
  };
  t.match(await thrownBy(withKeyOf('sub_default')), { status: 429 }, 'of the subscription, not of the key');
  const { id } = await management.createSubscription('another');
  t.match(await withKeyOf(id), { type: 'message' }, 'and of no other');
});

t.test('chained gateways', async (t) => {
  const front = await startGateway({
    catalog: `
engines:
  far: { wire: openai, replicas: ['${gateway.url}'], headers: { authorization: 'Bearer ${gateway.key}' } }
models:
  far/reasoner:
    engine: far
    served_as: sluice/reasoner
    context_length: 131072
    reasoning: { mandatory: false, supports_max_tokens: true, supported_efforts: [none, low, medium, high] }
`,
  });
  t.teardown(() => front.stop());
  const far = new Anthropic({ baseURL: front.root, apiKey: front.key, maxRetries: 0 });
  const withoutNames = ({ id, model, ...message }: Message) => ({
    ...message,
    content: message.content.map(
      (block): Partial<OutputBlock> => ({
        ...block,
        ...(block.type === 'thinking' && { signature: '' }),
      }),
    ),
  });
  const rows: readonly Omit<Anthropic.MessageCreateParamsNonStreaming, 'model'>[] = [
    { max_tokens: 4096, messages: say('/sim rate=max reasoning=9 text="So \\"it\\" is 😀"\nWhy?') },
    {
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      messages: say('/sim rate=max\nWhy?'),
    },
    { max_tokens: 4096, thinking: { type: 'disabled' }, messages: say('/sim rate=max tokens=9\nWhy?') },
    {
      max_tokens: 4096,
      messages: say('/sim rate=max calls=2\nWeather in "Oslo" and "Rome"?'),
      tools: [{ ...weather, input_schema: { ...city, required: [...city.required] } }],
    },
    { max_tokens: 7, messages: say('/sim rate=max tokens=90\nWhy?') },
  ];
  for (const row of rows) {
    const near = messageOf(await client.messages.create({ ...row, model: 'sluice/reasoner' }));
    const whole = messageOf(await far.messages.create({ ...row, model: 'far/reasoner' }));
    const streamed = messageOf(await far.messages.stream({ ...row, model: 'far/reasoner' }).finalMessage());
    t.strictSame(withoutNames(whole), withoutNames(near), JSON.stringify(row).slice(0, 90));
    t.strictSame(withoutNames(streamed), withoutNames(near));
  }
});
