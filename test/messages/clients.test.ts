/** Tests the messages route through both versions of its SDK over a real socket. */
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import Anthropic0 from 'anthropic-sdk-0';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { MessageEvent } from '../../schemas/messages/response.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { thrownBy } from '../thrown-by.ts';
import { clock, messageOf, quote, say, textOf, usesOf, weather } from './sample-messages.ts';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const events: UsageEvent[] = [];
const record = gateway.ports.usage.record.bind(gateway.ports.usage);
gateway.ports.usage.record = (event) => {
  events.push(event);
  return record(event);
};

const isEvent = Compile(MessageEvent);

/** What both lines of the SDK have in common; their own types differ in every field. */
interface Client {
  readonly messages: {
    create(params: object): PromiseLike<object>;
    stream(params: object): Streaming;
    countTokens(params: object): PromiseLike<object>;
  };
  readonly models: {
    list(params?: object): PromiseLike<object> & AsyncIterable<{ readonly id: string }>;
    retrieve(id: string): PromiseLike<object>;
  };
}
interface Streaming {
  finalMessage(): Promise<object>;
  abort(): void;
  once(event: 'text', listener: (text: string) => void): object;
  [Symbol.asyncIterator](): AsyncIterator<object>;
}

type ErrorName =
  | 'BadRequestError'
  | 'AuthenticationError'
  | 'NotFoundError'
  | 'RateLimitError'
  | 'InternalServerError';
type Errors = Readonly<Record<ErrorName, abstract new (...parts: never[]) => Error>>;

const options = { baseURL: gateway.root, apiKey: gateway.key, maxRetries: 0 };
const client1 = new Anthropic(options);
const client0 = new Anthropic0(options);
interface Line {
  readonly name: string;
  readonly client: Client;
  /** One whose key is wrong. */
  readonly stranger: Client;
  readonly errors: Errors;
}
const wrong = { ...options, apiKey: 'wrong' };
const lines: readonly Line[] = [
  { name: '@anthropic-ai/sdk 1', client: client1, stranger: new Anthropic(wrong), errors: Anthropic },
  { name: '@anthropic-ai/sdk 0', client: client0, stranger: new Anthropic0(wrong), errors: Anthropic0 },
];

const model = 'sluice/chat';
const ask = { model, max_tokens: 1000 };

/** Their type leaves open whether an answer is a stream. */
const eventsOf = (answer: object): AsyncIterable<unknown> => {
  if (Symbol.asyncIterator in answer) return answer as AsyncIterable<unknown>;
  throw new Error('no stream');
};

for (const { name, client, stranger, errors } of lines) {
  t.test(`${name}: create`, async (t) => {
    const answer = await client.messages.create({
      ...ask,
      messages: quote('Hello "there"\n😀'),
      temperature: 1,
      top_p: 0.9,
      top_k: 5,
      metadata: { user_id: 'ann' },
    });
    const message = messageOf(answer);
    t.match(message, {
      id: /^msg_/,
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'Hello "there"\n😀' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
    });
    t.match(answer, { _request_id: `req_${message.id.slice('msg_'.length)}` });
    t.match(events.at(-1), {
      route: '/messages',
      outcome: 'completed',
      quantities: {
        prompt_tokens: message.usage.input_tokens,
        completion_tokens: message.usage.output_tokens,
      },
    });
  });

  t.test(`${name}: stream`, async (t) => {
    const params = { ...ask, messages: quote('One two three\n"four" 😀') };
    const stream = client.messages.stream(params);
    const seen: string[] = [];
    for await (const event of stream) {
      if (!isEvent.Check(event)) throw new Error(JSON.stringify(isEvent.Errors(event)));
      seen.push(event.type);
    }
    const message = messageOf(await stream.finalMessage());
    t.equal(textOf(message), 'One two three\n"four" 😀');
    t.equal(message.stop_reason, 'end_turn');
    t.same(
      [...new Set(seen)],
      [
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ],
    );
    const whole = messageOf(await client.messages.create(params));
    t.strictSame({ ...message, id: '' }, { ...whole, id: '' }, 'adds up to the whole message');

    let text = '';
    for await (const event of eventsOf(await client.messages.create({ ...params, stream: true })))
      if (isEvent.Check(event) && event.type === 'content_block_delta' && event.delta.type === 'text_delta')
        text += event.delta.text;
    t.equal(text, 'One two three\n"four" 😀');
  });

  t.test(`${name}: thinking`, async (t) => {
    const params = {
      model: 'sluice/reasoner',
      max_tokens: 4096,
      messages: say('/sim rate=max reasoning=20 text="So it is"\nWhy?'),
    };
    const enabled = { ...params, thinking: { type: 'enabled', budget_tokens: 1024 } };
    const thought = messageOf(await client.messages.create(enabled));
    t.match(thought.content, [
      { type: 'thinking', thinking: /\w/, signature: /^[\w+/]{43}=$/ },
      { type: 'text', text: 'So it is' },
    ]);
    t.match(thought.usage, { output_tokens: 23, output_tokens_details: { thinking_tokens: 20 } });
    const streamed = messageOf(await client.messages.stream(enabled).finalMessage());
    t.strictSame(streamed.content, thought.content, 'streamed, with the same signature');

    const [shown] = thought.content;
    const omitted = { ...params, thinking: { type: 'adaptive', display: 'omitted' } };
    for (const hidden of [
      messageOf(await client.messages.create(omitted)),
      messageOf(await client.messages.stream(omitted).finalMessage()),
    ]) {
      t.strictSame(hidden.content[0], { ...shown, thinking: '' }, 'hidden, but signed');
      t.equal(hidden.usage.output_tokens_details.thinking_tokens, 20);
    }
    t.notOk(
      JSON.stringify(await eventTypes(client, omitted)).includes('thinking_delta'),
      'and no delta tells of it',
    );

    const off = messageOf(await client.messages.create({ ...params, thinking: { type: 'disabled' } }));
    t.match(off.content, [{ type: 'text' }]);
    const effort = (level: string) =>
      client.messages.create({
        ...params,
        messages: say('/sim rate=max\nWhy?'),
        output_config: { effort: level },
      });
    const [low, high] = [messageOf(await effort('low')), messageOf(await effort('high'))];
    t.ok(
      low.usage.output_tokens_details.thinking_tokens < high.usage.output_tokens_details.thinking_tokens,
      'effort reaches the model',
    );
    for (const thinking of [undefined, { type: 'adaptive' }]) {
      const express = messageOf(
        await client.messages.create({ ...params, model: 'anthropic/sluice/reasoner:express', thinking }),
      );
      t.strictSame(
        [express.model, express.content.map(({ type }) => type)],
        ['sluice/reasoner', thinking === undefined ? ['text'] : ['thinking', 'text']],
      );
      t.equal(express.usage.output_tokens_details.thinking_tokens, 20, 'it thinks, shown or not');
    }
    const unasked = messageOf(await client.messages.create(params));
    t.match(unasked, {
      content: [{ type: 'text' }],
      usage: { output_tokens_details: { thinking_tokens: 0 } },
    });
    const lite = { ...params, model: 'sluice/reasoner-lite' };
    for (const always of [
      messageOf(await client.messages.create(lite)),
      messageOf(await client.messages.stream(lite).finalMessage()),
    ]) {
      t.strictSame(always.content, [{ type: 'text', text: 'So it is' }], 'a model that always thinks');
      t.match(always.usage, { output_tokens: 23, output_tokens_details: { thinking_tokens: 20 } });
      t.match(events.at(-1), {
        model: 'sluice/reasoner-lite',
        quantities: { completion_tokens: 23, reasoning_tokens: 20 },
      });
    }
    const plain = { ...ask, messages: quote('Hello'), output_config: { effort: 'high' } };
    t.equal(textOf(messageOf(await client.messages.create(plain))), 'Hello', 'models without reasoning');

    const again = messageOf(
      await client.messages.create({
        ...params,
        messages: [
          ...params.messages,
          { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }, ...thought.content] },
          ...quote('And again'),
        ],
      }),
    );
    t.equal(textOf(again), 'And again', 'thoughts may come back');
  });

  t.test(`${name}: prefill, the limit and stop sequences`, async (t) => {
    const messages = say('/sim rate=max tokens=40\nTell me of the sea');
    const all = textOf(messageOf(await client.messages.create({ ...ask, messages })));
    const first = messageOf(await client.messages.create({ ...ask, messages, max_tokens: 10 }));
    t.match(first, { stop_reason: 'max_tokens', usage: { output_tokens: 10 } });
    const begun = textOf(first);
    const prefilled = { ...ask, messages: [...messages, { role: 'assistant', content: `${begun}  \n` }] };
    t.equal(begun + textOf(messageOf(await client.messages.create(prefilled))), all);
    t.equal(begun + textOf(messageOf(await client.messages.stream(prefilled).finalMessage())), all);

    const none = { ...ask, messages, max_tokens: 0 };
    for (const empty of [
      messageOf(await client.messages.create(none)),
      messageOf(await client.messages.stream(none).finalMessage()),
    ])
      t.strictSame([empty.content, empty.stop_reason, empty.usage.output_tokens], [[], 'max_tokens', 0]);

    const stopping = {
      ...ask,
      messages: quote('a b c STOP d'),
      stop_sequences: ['x', 'y', 'z', 'w', 'STOP'],
    };
    for (const stopped of [
      messageOf(await client.messages.create(stopping)),
      messageOf(await client.messages.stream(stopping).finalMessage()),
    ]) {
      t.match(stopped, { stop_reason: 'stop_sequence', stop_sequence: 'STOP' });
      t.equal(textOf(stopped), 'a b c ');
    }
    const cached = messageOf(
      await client.messages.create({ ...ask, messages: say('/sim rate=max cached=7 tokens=2\nAgain') }),
    );
    t.equal(cached.usage.cache_read_input_tokens, 7);
  });

  t.test(`${name}: system messages in place`, async (t) => {
    const answer = await client.messages.create({
      ...ask,
      system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
      messages: [
        ...say('Hi'),
        { role: 'system', content: 'Be kind' },
        { role: 'assistant', content: 'Hello' },
        ...quote('Yes'),
        { role: 'system', content: [{ type: 'text', text: 'Be quick' }] },
      ],
    });
    t.equal(textOf(messageOf(answer)), 'Yes');
  });

  t.test(`${name}: a tool loop`, async (t) => {
    const run = (use: { name: string; input: Record<string, unknown> }) => `${use.name} of ${use.input.city}`;
    const messages: object[] = say(
      '/sim rate=max calls=2\nHow are the weather and the clock in "Oslo" and "Rome"?',
    );
    const rounds = [
      '/sim rate=max calls=3\nAnd the weather in "Lima", "Bonn" and "Kyiv"?',
      '/sim rate=max tool=clock\nAnd the clock in "Baku"?',
      undefined,
    ];
    const calls: string[][] = [];
    let all: string[] = [];
    for (const [round, next] of rounds.entries()) {
      const params = { ...ask, messages, tools: [weather, clock] };
      // Alternating, so that one loop covers both.
      const answer =
        round % 2 === 0 ? client.messages.stream(params).finalMessage() : client.messages.create(params);
      const message = messageOf(await answer);
      t.equal(message.stop_reason, 'tool_use');
      const uses = usesOf(message);
      t.equal(new Set(uses.map((use) => use.id)).size, uses.length, 'each call has an id of its own');
      calls.push(uses.map((use) => use.name));
      all = uses.map(run);
      messages.push(
        { role: 'assistant', content: message.content },
        {
          role: 'user',
          content: [
            ...uses.map((use, at) => ({
              type: 'tool_result',
              tool_use_id: use.id,
              content: at === 0 ? run(use) : [{ type: 'text', text: run(use) }],
            })),
            ...(next === undefined ? [] : [{ type: 'text', text: next }]),
          ],
        },
      );
    }
    t.same(calls, [['weather', 'clock'], ['weather', 'weather', 'weather'], ['clock']]);
    const last = messageOf(await client.messages.create({ ...ask, messages, tools: [weather, clock] }));
    t.equal(last.stop_reason, 'end_turn');
    for (const each of all) t.match(textOf(last), `According to clock: ${each}`, 'results find their calls');
  });

  t.test(`${name}: tool choice`, async (t) => {
    const choose = async (tool_choice: object) =>
      messageOf(
        await client.messages.create({
          ...ask,
          messages: say('/sim rate=max\nHello'),
          tools: [weather, clock],
          tool_choice,
        }),
      );
    t.match(usesOf(await choose({ type: 'tool', name: 'clock' })), [
      { name: 'clock', input: { city: String } },
    ]);
    t.equal(usesOf(await choose({ type: 'any' })).length, 1);
    t.equal(usesOf(await choose({ type: 'auto' })).length, 0);
    t.equal(usesOf(await choose({ type: 'none' })).length, 0);
    const single = await client.messages.create({
      ...ask,
      messages: say('/sim rate=max calls=4\nHello'),
      tools: [weather],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    });
    t.equal(usesOf(messageOf(single)).length, 1);
    const failed = messageOf(
      await client.messages.create({
        ...ask,
        messages: [
          ...say('/sim rate=max tokens=30\nWeather in Oslo?'),
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }],
          },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: 'no net' }],
          },
        ],
        tools: [weather],
      }),
    );
    t.match(textOf(failed), 'According to weather: Error:no net');
  });

  t.test(`${name}: errors have their classes`, async (t) => {
    const create = (fields: object) => client.messages.create({ ...ask, messages: say('Hi'), ...fields });
    const failing = (status: number) => create({ messages: say(`/sim fail=${status}@0`) });
    const rows: readonly (readonly [
      call: () => PromiseLike<unknown>,
      kind: ErrorName,
      status: number,
      type: string,
    ])[] = [
      [() => create({ messages: [] }), 'BadRequestError', 400, 'invalid_request_error'],
      [
        () => stranger.messages.create({ ...ask, messages: say('Hi') }),
        'AuthenticationError',
        401,
        'authentication_error',
      ],
      [() => create({ model: 'sluice/none' }), 'NotFoundError', 404, 'not_found_error'],
      [() => create({ model: 'sluice/image' }), 'NotFoundError', 404, 'not_found_error'],
      [() => failing(429), 'RateLimitError', 429, 'rate_limit_error'],
      [() => failing(500), 'InternalServerError', 500, 'api_error'],
      [() => failing(502), 'InternalServerError', 502, 'api_error'],
      [() => failing(503), 'InternalServerError', 503, 'api_error'],
      [() => failing(504), 'InternalServerError', 504, 'api_error'],
      [
        () => create({ messages: say('/sim fail=503@0'), stream: true }),
        'InternalServerError',
        503,
        'api_error',
      ],
      [
        () => client.messages.stream({ ...ask, messages: say('/sim fail=429@0') }).finalMessage(),
        'RateLimitError',
        429,
        'rate_limit_error',
      ],
      [
        () => create({ messages: say('/sim rate=max tokens=50 fail=503@10') }),
        'InternalServerError',
        503,
        'api_error',
      ],
      [
        () => client.messages.countTokens({ model: 'x/y', messages: say('Hi') }),
        'NotFoundError',
        404,
        'not_found_error',
      ],
      [() => client.models.retrieve('x/y'), 'NotFoundError', 404, 'not_found_error'],
    ];
    for (const [call, kind, status, type] of rows) {
      const error = await thrownBy(call());
      t.ok(error instanceof errors[kind], `${kind}: ${error}`);
      t.match(error, {
        status,
        error: { type: 'error', error: { type, message: /\w/ }, request_id: /^req_/ },
      });
    }
    t.match(events.at(-1), { route: '/messages', outcome: 'failed', cost: '0' });
  });

  t.test(`${name}: a failure after the first token`, async (t) => {
    const params = { ...ask, messages: say('/sim rate=max tokens=50 fail=503@10') };
    const stream = client.messages.stream(params);
    let received = '';
    stream.once('text', (text) => {
      received += text;
    });
    const error = await thrownBy(stream.finalMessage());
    t.match(error, {
      error: { type: 'error', error: { type: 'api_error', message: 'Simulated failure 503' } },
    });
    t.ok(received.length > 0, 'the text before it arrived');
  });

  t.test(`${name}: disconnecting early`, async (t) => {
    const before = events.length;
    const stream = client.messages.stream({ ...ask, messages: say('/sim rate=50/s tokens=900\nLong') });
    stream.once('text', () => stream.abort());
    await thrownBy(stream.finalMessage());
    await eventually(() => events.length > before, 'its usage is recorded');
    t.match(events.at(-1), { route: '/messages', outcome: 'cancelled' });
  });

  t.test(`${name}: models and counting`, async (t) => {
    const ids: string[] = [];
    for await (const each of client.models.list({ limit: 3 })) ids.push(each.id);
    t.ok(ids.includes(model) && ids.includes(`anthropic/${model}`) && !ids.includes('sluice/image'));
    t.match(await client.models.retrieve(`anthropic/${model}`), {
      type: 'model',
      id: `anthropic/${model}`,
      display_name: 'Chat',
    });
    const params = { model, system: 'Be brief', messages: say('How many?'), tools: [weather] };
    const before = events.length;
    const counted = await client.messages.countTokens(params);
    t.equal(events.length, before, 'counting is free');
    const { usage } = messageOf(await client.messages.create({ ...params, max_tokens: 5 }));
    t.strictSame(JSON.parse(JSON.stringify(counted)), { input_tokens: usage.input_tokens });
  });
}

const eventTypes = async (client: Client, params: object): Promise<unknown[]> => {
  const seen: unknown[] = [];
  for await (const event of client.messages.stream(params)) seen.push(event);
  return seen;
};

t.test('@anthropic-ai/sdk: beta calls and structured output', async (t) => {
  const beta = await client0.beta.messages.create({
    ...ask,
    messages: quote('Hello'),
    betas: ['x-2026-01-01'],
  });
  t.equal(textOf(messageOf(beta)), 'Hello');
  const person = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
    additionalProperties: false,
  } as const;
  const parsed = await client1.messages.parse({
    ...ask,
    messages: say('Who?'),
    output_config: { format: jsonSchemaOutputFormat(person) },
  });
  t.match(parsed.parsed_output, { name: String, age: Number });
});

t.test('@anthropic-ai/sdk: the tool runner and threads send the whole conversation', async (t) => {
  const sent: { thread: unknown; messages: number; status: number }[] = [];
  // Whatever the client thinks of the address: threads are for those that have them.
  const threading = new Anthropic({
    ...options,
    fetch: async (url, init) => {
      const body = JSON.parse(String(init?.body)) as { thread?: unknown; messages: unknown[] };
      const response = await fetch(url, init);
      sent.push({ thread: body.thread, messages: body.messages.length, status: response.status });
      return response;
    },
  });
  const asked: string[] = [];
  const tool = betaTool({
    ...weather,
    inputSchema: weather.input_schema,
    run: ({ city }) => {
      asked.push(city);
      return `Rain in ${city}`;
    },
  });
  const params = {
    ...ask,
    messages: say('/sim rate=max calls=2\nWeather in "Oslo" and "Rome"?'),
    tools: [tool],
  };
  for (const stream of [false, true]) {
    const runner = threading.beta.messages.toolRunner({ ...params, stream });
    const last = await runner.runUntilDone();
    t.match(last.content, [{ type: 'text', text: /Rain in Oslo.*Rain in Rome/s }]);
  }
  t.same(asked, ['Oslo', 'Rome', 'Oslo', 'Rome']);

  const thread = threading.beta.messages.thread({
    ...ask,
    unsupportedRequestBehavior: 'continue_unthreaded',
  });
  const first = await thread.send({ role: 'user', content: '/sim rate=max text="One"\nHi' });
  const second = await thread.send({ role: 'user', content: '/sim rate=max text="Two"\nHi' });
  t.match([first.content, second.content], [[{ text: 'One' }], [{ text: 'Two' }]]);
  const rounds = [
    { thread: { type: 'create' }, messages: 1, status: 400 },
    { thread: undefined, messages: 1, status: 200 },
    { thread: undefined, messages: 3, status: 200 },
  ];
  t.strictSame(sent, [...rounds, ...rounds, ...rounds], 'after one refusal, without threads');

  const error = await thrownBy(threading.beta.messages.thread(ask).send({ role: 'user', content: 'Hi' }));
  t.ok(error instanceof Anthropic.ThreadUnsupportedRequestError, String(error));
});
