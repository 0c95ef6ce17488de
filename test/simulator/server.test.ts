/** Tests the simulator over HTTP: a real client, every quirk in the bytes, and disconnects. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import OpenAI, { APIError } from 'openai';
import t, { type Test } from 'tap';
import { type Quirk, quirkNames, readQuirks } from '../../src/simulator/server/quirks.ts';
import {
  type SimulatorServer,
  type SimulatorServerOptions,
  startSimulatorServer,
} from '../../src/simulator/server/server.ts';
import { eventually } from '../eventually.ts';

async function serve(t: Test, options: SimulatorServerOptions = {}): Promise<SimulatorServer> {
  const server = await startSimulatorServer({ rate: Number.POSITIVE_INFINITY, ...options });
  t.teardown(() => server.close());
  return server;
}

const clientOf = (server: SimulatorServer, apiKey = 'none') =>
  new OpenAI({ baseURL: server.url, apiKey, maxRetries: 0 });

const ask = (content: string) => [{ role: 'user' as const, content }];

const post = (server: SimulatorServer, body: unknown, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.url}/chat/completions`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });

interface Json {
  readonly error: { readonly message: string; readonly [name: string]: unknown };
  readonly choices: readonly {
    readonly message: {
      readonly content: string;
      readonly tool_calls: readonly {
        readonly function: { readonly arguments: { readonly city: string } };
      }[];
    };
    readonly finish_reason: string;
  }[];
  readonly usage: {
    readonly completion_tokens: number;
    readonly completion_tokens_details: { readonly reasoning_tokens: number };
  };
}

const jsonOf = async (response: Response): Promise<Json> => (await response.json()) as Json;

/** The whole answer to a question. */
const wholeOf = async (server: SimulatorServer, content: string, more: object = {}): Promise<Json> =>
  jsonOf(await post(server, { model: 'm', messages: ask(content), ...more }));

/** The raw stream of a request. */
async function streamOf(server: SimulatorServer, content: string, more: object = {}): Promise<string> {
  const stream_options = { include_usage: true };
  const response = await post(server, {
    model: 'm',
    stream: true,
    stream_options,
    messages: ask(content),
    ...more,
  });
  return response.text();
}

/** The JSON of its events. */
const eventsOf = (stream: string) =>
  stream
    .split(/\r?\n\r?\n/)
    .filter((event) => /^data: ?\{/.test(event))
    .map((event) => JSON.parse(event.slice(event.indexOf('{'))));

const deltasOf = (stream: string) =>
  eventsOf(stream).flatMap((event) => event.choices.map((choice: { delta: unknown }) => choice.delta));

/** The status that a client got; undefined without a response. */
async function statusOf(answer: PromiseLike<unknown>): Promise<number | undefined> {
  try {
    await answer;
    return 200;
  } catch (thrown) {
    if (thrown instanceof APIError) return thrown.status;
    throw thrown;
  }
}

/** Waits for a condition, a bounded time. */

t.test('the openai client: whole responses, streams, tools and schemas', async (t) => {
  const server = await serve(t);
  const client = clientOf(server);
  const whole = await client.chat.completions.create({ model: 'm', messages: ask('/sim tokens=3\nHello') });
  t.match(whole, {
    id: /^chatcmpl-/,
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'You asked.' },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 13, completion_tokens: 3, total_tokens: 16 },
  });

  const stream = client.chat.completions.stream({
    model: 'm',
    messages: ask('How do tides work?'),
    n: 2,
    logprobs: true,
    top_logprobs: 2,
    stream_options: { include_usage: true },
  });
  const streamed = await stream.finalChatCompletion();
  t.equal(streamed.choices.length, 2);
  t.match(streamed.choices[0]?.message.content, /^You asked about tides and work\./);
  t.equal(
    streamed.choices[0]?.logprobs?.content?.map((token) => token.token).join(''),
    streamed.choices[0]?.message.content,
  );
  t.ok(streamed.usage && streamed.usage.completion_tokens > 10);

  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters } }];
  const question = ask('What is the weather in Paris?');
  const called = await client.chat.completions
    .stream({ model: 'm', messages: question, tools })
    .finalChatCompletion();
  const [call] = called.choices[0]?.message.tool_calls ?? [];
  t.match(call, {
    id: /^call_/,
    type: 'function',
    function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
  });
  t.equal(called.choices[0]?.finish_reason, 'tool_calls');
  const again = await client.chat.completions.create({
    model: 'm',
    tools,
    messages: [
      ...question,
      { role: 'assistant', content: null, tool_calls: call === undefined ? [] : [call] },
      { role: 'tool', tool_call_id: call?.id ?? '', content: 'Sunny, 21 degrees' },
    ],
  });
  t.match(again.choices[0]?.message.content, 'According to get_weather: Sunny, 21 degrees.');

  const schema = {
    type: 'object',
    properties: { steps: { type: 'array', items: { type: 'string' } } },
    required: ['steps'],
  };
  const parsed = await client.chat.completions.create({
    model: 'm',
    messages: ask('Explain tides'),
    response_format: { type: 'json_schema', json_schema: { name: 'steps', strict: true, schema } },
  });
  t.ok(Array.isArray(JSON.parse(parsed.choices[0]?.message.content ?? '').steps));
  t.match(server.stats(), { running: 0, finished: 5, failed: 0, aborted: 0 });
});

t.test('gateway requests: reasoning switches, continuation, media, stop', async (t) => {
  const server = await serve(t);
  const answer = async (body: object) => {
    const response = await post(server, { model: 'm', messages: ask('/sim tokens=4\nhi'), ...body });
    const json = await jsonOf(response);
    return { choice: json.choices[0], usage: json.usage };
  };
  const thought = async (body: object) =>
    (await answer(body)).usage.completion_tokens_details.reasoning_tokens;
  t.equal(await thought({}), 0);
  t.equal(await thought({ model: 'deep-thinker' }), 32);
  t.equal(await thought({ reasoning_effort: 'low' }), 16);
  t.equal(await thought({ reasoning: { effort: 'high', max_tokens: 20 } }), 20);
  t.equal(await thought({ chat_template_kwargs: { enable_thinking: true } }), 32);
  t.equal(await thought({ model: 'deep-thinker', chat_template_kwargs: { enable_thinking: false } }), 0);
  t.equal(await thought({ reasoning_effort: 'max', thinking_token_budget: 3 }), 3);
  const first = await answer({ max_tokens: 2 });
  t.match(first.choice, { message: { content: 'You asked' }, finish_reason: 'length' });
  const messages = [...ask('/sim tokens=4\nhi'), { role: 'assistant', content: 'You asked' }];
  const rest = await answer({ messages, continue_final_message: true, add_generation_prompt: false });
  t.equal(rest.choice?.message.content, ' about.');
  const stopped = await answer({ messages: ask('/sim text="one two"'), stop: 'tw' });
  t.match(stopped.choice, { message: { content: 'one ' }, finish_reason: 'stop', stop_reason: 'tw' });
  const content = [
    { type: 'text', text: 'Look' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    { type: 'video_url', video_url: { url: 'https://example.com/clip.mp4' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  ];
  const seen = await answer({ messages: [{ role: 'user', content }] });
  t.match(
    seen.choice?.message.content,
    'You sent an image of 3 bytes, image/png; a video and an audio clip of 3 bytes, audio/wav.',
  );
});

t.test('unreadable requests', async (t) => {
  const server = await serve(t, { models: ['known'], key: 'secret' });
  const headers = { authorization: 'Bearer secret' };
  const good = { model: 'known', messages: ask('hi') };
  const cases: [unknown, number, string][] = [
    ['{', 400, 'The body must be JSON'],
    ['[]', 400, 'The body must be a JSON object'],
    [{ ...good, model: undefined }, 400, 'model is missing'],
    [{ ...good, model: 'unknown' }, 404, 'The model `unknown` does not exist.'],
    [{ ...good, messages: undefined }, 400, 'messages is missing'],
    [{ ...good, messages: [] }, 400, 'messages must have at least one item'],
    [{ ...good, messages: [null] }, 400, 'messages[0] is missing'],
    [{ ...good, messages: [{ role: 'ghost' }] }, 400, 'messages[0].role must be system'],
    [{ ...good, messages: [{ role: 'user', content: 5 }] }, 400, 'messages[0].content must be an array'],
    [
      { ...good, messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
      400,
      'messages[0].content[0].type is not known',
    ],
    [{ ...good, stream: 'yes' }, 400, 'stream must be true or false'],
    [{ ...good, max_tokens: 0 }, 400, 'max_tokens must be a whole number of at least 1'],
    [{ ...good, n: 1.5 }, 400, 'n must be a whole number of at least 1'],
    [{ ...good, stop: [1] }, 400, 'stop[0] must be a string'],
    [{ ...good, reasoning_effort: 'huge' }, 400, 'reasoning_effort must be one of none'],
    [{ ...good, tools: [{}] }, 400, 'tools[0].function is missing'],
    [{ ...good, tool_choice: 'maybe' }, 400, 'tool_choice must be none, auto, required or a function'],
    [{ ...good, response_format: { type: 'xml' } }, 400, 'response_format.type must be text'],
    [{ ...good, response_format: { type: 'json_schema' } }, 400, 'response_format.json_schema is missing'],
    [{ ...good, continue_final_message: true, add_generation_prompt: true }, 400, 'Cannot set both'],
    [
      { ...good, messages: ask('/sim nothing') },
      400,
      'messages[0].content: unknown /sim directive "nothing"',
    ],
  ];
  for (const [body, status, message] of cases) {
    const response = await post(server, body, { headers });
    const json = await jsonOf(response);
    t.equal(response.status, status, message);
    t.ok(json.error.message.includes(message), json.error.message);
    t.match(json.error, { type: /Error$/, param: null, code: status });
  }
  t.match(await (await post(server, good)).json(), { error: { code: 401, type: 'AuthenticationError' } });
  t.equal(await statusOf(clientOf(server, 'wrong').models.list()), 401);
  const list = await clientOf(server, 'secret').models.list();
  t.match(list.data, [{ id: 'known', object: 'model', owned_by: 'simulator' }]);
  const root = server.url.replace('/v1', '');
  t.match(await (await fetch(`${root}/health`, { headers })).json(), { status: 'ok' });
  t.equal((await fetch(`${root}/nothing`, { headers })).status, 404);
  const wrong = await fetch(`${server.url}/models`, { method: 'POST', headers });
  t.equal(wrong.status, 405);
  t.equal(wrong.headers.get('allow'), 'GET');
});

t.test('faults over HTTP', async (t) => {
  const server = await serve(t);
  const client = clientOf(server);
  const create = (content: string) => client.chat.completions.create({ model: 'm', messages: ask(content) });
  t.equal(await statusOf(create('/sim fail=503@5')), 503);
  t.equal(await statusOf(create('/sim fail=429')), 429);
  t.equal(await statusOf(create('/sim drop@5')), undefined, 'no answer, no status');
  const early = await post(server, { model: 'm', stream: true, messages: ask('/sim fail=500@0') });
  t.equal(early.status, 500);
  const late = await streamOf(server, '/sim fail=503@2 tokens=5');
  t.equal(deltasOf(late.replace(/data: \{"error".*\n\n/, '')).length, 3, 'the role and two tokens');
  t.match(
    late,
    /data: \{"error":\{"message":"Simulated failure 503","type":"ServiceUnavailableError","param":null,"code":503\}\}\n\ndata: \[DONE\]\n\n$/,
  );
  const ended = await streamOf(server, '/sim end@2 tokens=5');
  t.equal(deltasOf(ended).length, 3);
  t.notMatch(ended, /finish_reason":"|DONE/);
  const dropped = await post(server, {
    model: 'm',
    stream: true,
    messages: ask('/sim drop@2 tokens=5 rate=100/s'),
  });
  await t.rejects(dropped.text());
  await t.rejects(streamOf(server, '/sim drop@0'));
  t.match(server.stats(), { running: 0, finished: 0, failed: 8 });
});

t.test(
  'disconnects are noticed, in streams and whole responses, before and after the first token',
  async (t) => {
    const server = await serve(t, { rate: 100 });
    let aborted = 0;
    for (const stream of [true, false]) {
      for (const directive of ['first=10m', 'tokens=100000']) {
        const controller = new AbortController();
        const { tokens } = server.stats();
        const answer = post(
          server,
          { model: 'm', stream, messages: ask(`/sim ${directive}`) },
          { signal: controller.signal },
        );
        const left = t.rejects(answer.then((response) => response.text()));
        const started =
          directive === 'first=10m'
            ? () => server.stats().running === 1
            : () => server.stats().tokens > tokens;
        t.ok(await eventually(started));
        controller.abort();
        await left;
        aborted += 1;
        t.ok(await eventually(() => server.stats().aborted === aborted), `${stream} ${directive}`);
        t.equal(server.stats().running, 0);
      }
    }
  },
);

t.test('a client that does not read pauses the engine', async (t) => {
  const server = await serve(t);
  const { hostname, port } = new URL(server.url);
  const socket: Socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.pause();
  const body = JSON.stringify({
    model: 'm',
    stream: true,
    max_tokens: 1e6,
    messages: ask('/sim tokens=1000000 rate=max'),
  });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  let before = -1;
  const isStill = async (): Promise<boolean> => {
    await new Promise((done) => setTimeout(done, 20));
    const { tokens } = server.stats();
    const same = tokens > 0 && tokens === before;
    before = tokens;
    return same;
  };
  let still = 0;
  for (let turn = 0; turn < 500 && still < 5; turn += 1) still = (await isStill()) ? still + 1 : 0;
  t.equal(still, 5, 'production stops');
  // What it made fills the buffers of the system and 16 KiB of the server's own, and no more.
  t.ok(before < 500_000, `${before} tokens`);
  socket.resume();
  socket.on('data', () => {});
  t.ok(await eventually(() => server.stats().tokens > before), 'and goes on when it reads');
  socket.destroy();
  t.ok(await eventually(() => server.stats().aborted === 1));
});

t.test('every quirk shows in the bytes', async (t) => {
  const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { required: ['city'] } } }];
  const calling = { tools, tool_choice: 'required' };
  const thinking = '/sim reasoning=3 tokens=2\nhi';
  const plain = await serve(t);
  const checks: Record<Quirk, (server: SimulatorServer, t: Test) => Promise<void>> = {
    async reasoning_content(server, t) {
      const deltas = deltasOf(await streamOf(server, thinking));
      t.match(deltas[1], { reasoning_content: /./, reasoning: undefined });
      const whole = await wholeOf(server, thinking);
      t.match(whole.choices[0]?.message, { content: 'You.', reasoning_content: /./, reasoning: undefined });
    },
    async reasoning_both(server, t) {
      const [, delta] = deltasOf(await streamOf(server, thinking));
      t.ok(delta.reasoning !== undefined && delta.reasoning === delta.reasoning_content);
    },
    async think_tags(server, t) {
      const deltas = deltasOf(await streamOf(server, thinking));
      t.match(deltas.map((delta) => delta.content ?? '').join(''), /^<think>\n.+\n<\/think>\n\nYou\.$/);
      const whole = await wholeOf(server, thinking);
      t.match(whole.choices[0]?.message.content, /^<think>\n.+\n<\/think>\n\nYou\.$/);
    },
    async empty_tool_calls(server, t) {
      const deltas = deltasOf(await streamOf(server, thinking));
      t.ok(deltas.every((delta) => Array.isArray(delta.tool_calls) && delta.tool_calls.length === 0));
      const whole = await wholeOf(server, thinking);
      t.same(whole.choices[0]?.message.tool_calls, []);
    },
    async null_deltas(server, t) {
      const deltas = deltasOf(await streamOf(server, thinking));
      t.match(deltas[1], { reasoning: /./, content: null, tool_calls: null });
      t.match(deltas.at(-1), { content: null, tool_calls: null, reasoning_content: null });
    },
    async whole_tool_calls(server, t) {
      const deltas = deltasOf(await streamOf(server, 'hi', calling)).filter((delta) => delta.tool_calls);
      t.equal(deltas.length, 1);
      t.match(deltas[0].tool_calls, [
        { index: 0, id: /^call_/, function: { name: 'get_weather', arguments: /^\{.*\}$/ } },
      ]);
    },
    async arguments_object(server, t) {
      const [delta] = deltasOf(await streamOf(server, 'hi', calling)).filter((delta) => delta.tool_calls);
      t.type(delta.tool_calls[0].function.arguments.city, 'string');
      const whole = await wholeOf(server, 'hi', calling);
      t.type(whole.choices[0]?.message.tool_calls[0]?.function.arguments.city, 'string');
    },
    async plain_tool_ids(server, t) {
      const [, delta] = deltasOf(await streamOf(server, 'hi', calling));
      t.match(delta.tool_calls[0].id, /^[0-9a-f]{24}$/);
    },
    async no_tool_ids(server, t) {
      const [, delta] = deltasOf(await streamOf(server, 'hi', calling));
      t.match(delta.tool_calls[0], {
        index: 0,
        type: 'function',
        function: { name: 'get_weather', arguments: '' },
      });
      t.notOk('id' in delta.tool_calls[0]);
    },
    async stop_for_tools(server, t) {
      t.match(await streamOf(server, 'hi', calling), /"finish_reason":"stop"/);
      const whole = await wholeOf(server, 'hi', calling);
      t.equal(whole.choices[0]?.finish_reason, 'stop');
    },
    async no_usage(server, t) {
      t.notMatch(await streamOf(server, 'hi'), /usage/);
      const whole = await wholeOf(server, 'hi');
      t.equal(whole.usage, null);
    },
    async usage_every_chunk(server, t) {
      const events = eventsOf(await streamOf(server, thinking));
      t.same(
        events.map((event) => event.usage.completion_tokens),
        [0, 1, 2, 3, 4, 5, 5, 5],
      );
    },
    async null_usage(server, t) {
      const events = eventsOf(await streamOf(server, 'hi'));
      t.ok(events.slice(0, -1).every((event) => event.usage === null));
      t.ok(events.at(-1)?.usage.total_tokens > 0);
    },
    async role_every_chunk(server, t) {
      const deltas = deltasOf(await streamOf(server, thinking));
      t.ok(deltas.every((delta) => delta.role === 'assistant'));
    },
    async no_role(server, t) {
      t.notMatch(await streamOf(server, 'hi'), /role/);
    },
    async split_utf8(server, t) {
      const response = await post(server, {
        model: 'm',
        stream: true,
        messages: ask('/sim text="Grüße 👋 von überall 👋 her" rate=100/s'),
      });
      const packets: Buffer[] = [];
      for await (const packet of response.body ?? []) packets.push(Buffer.from(packet));
      const isBroken = (packet: Buffer) => packet.toString('utf8').endsWith('\ufffd');
      t.ok(packets.some(isBroken), 'a packet ends within a character');
      const text = deltasOf(Buffer.concat(packets).toString('utf8'));
      t.equal(text.map((delta) => delta.content ?? '').join(''), 'Grüße 👋 von überall 👋 her');
    },
    async crlf(server, t) {
      const stream = await streamOf(server, 'hi');
      t.match(stream, /\r\n\r\ndata: \[DONE\]\r\n\r\n$/);
      t.notMatch(stream, /[^\r]\n/);
    },
    async tight_data(server, t) {
      t.match(await streamOf(server, 'hi'), /^data:\{[^\n]*\n\ndata:\{/);
    },
    async comments(server, t) {
      t.match(await streamOf(server, 'hi'), /^: simulated\n\ndata: \{[^\n]*\n\n: simulated\n\n/);
    },
    async bad_event(server, t) {
      const stream = await streamOf(server, '/sim tokens=2');
      const bad = stream.split('\n\n').filter((event) => event.endsWith('"delta":'));
      t.equal(bad.length, 1);
      t.match(stream, /\[DONE\]\n\n$/);
    },
    async no_done(server, t) {
      const stream = await streamOf(server, 'hi');
      t.notMatch(stream, /DONE/);
      t.match(stream, /\}\n\n$/);
    },
    async unterminated(server, t) {
      t.match(await streamOf(server, 'hi'), /\n\ndata: \[DONE\]$/);
    },
    async html_errors(server, t) {
      const response = await post(server, { model: 'm', messages: ask('/sim fail=502') });
      t.equal(response.status, 502);
      t.match(response.headers.get('content-type'), 'text/html');
      t.match(await response.text(), /^<html>/);
    },
  };
  for (const quirk of quirkNames) {
    await t.test(quirk, async (t) => checks[quirk](await serve(t, { quirks: [quirk] }), t));
  }
  const untouched = await streamOf(plain, thinking);
  t.match(
    untouched,
    /^data: \{"id":"chatcmpl-[0-9a-f]{24}","object":"chat.completion.chunk","created":\d+,"model":"m",/,
  );
  t.match(deltasOf(untouched), [
    { role: 'assistant', content: '' },
    { reasoning: /./ },
    { reasoning: /./ },
    { reasoning: '.' },
    { content: 'You' },
    { content: '.' },
    {},
  ]);
});

t.test('the client copes with all harmless quirks at once', async (t) => {
  const quirks = readQuirks(
    'null_usage,role_every_chunk,crlf,comments,split_utf8,unterminated,empty_tool_calls',
  );
  const server = await serve(t, { quirks });
  const stream = await clientOf(server).chat.completions.create({
    model: 'm',
    stream: true,
    messages: ask('/sim text="Grüße 👋"'),
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  t.equal(text, 'Grüße 👋');
});

t.test('received requests can be inspected', async (t) => {
  const seen: unknown[] = [];
  const server = await serve(t, { onRequest: ({ body, headers }) => seen.push([body, headers['x-trace']]) });
  const body = { model: 'm', messages: ask('hi'), chat_template_kwargs: { enable_thinking: false } };
  await (await post(server, body, { headers: { 'x-trace': '7' } })).text();
  t.same(seen, [[body, '7']]);
});

t.test('errors have the classes of the client', async (t) => {
  const server = await serve(t);
  const stream = await clientOf(server).chat.completions.create({
    model: 'm',
    stream: true,
    messages: ask('/sim fail=503@3'),
  });
  let seen = 0;
  try {
    for await (const _ of stream) seen += 1;
    t.fail('the stream should fail');
  } catch (thrown) {
    t.ok(thrown instanceof APIError);
  }
  t.equal(seen, 4);
});
