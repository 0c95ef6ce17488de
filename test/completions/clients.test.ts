/** Tests text completions through the openai SDK over a real socket, on the simulator inside and behind a wire. */
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { Compile } from 'typebox/compile';
import { TextCompletion, TextCompletionChunk } from '../../schemas/completions.ts';
import { loadConfig } from '../../src/config.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { type Failure, testFailures, thrownAs } from '../envelope.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { thrownBy } from '../thrown-by.ts';

const requests: unknown[] = [];
const server = await startSimulatorServer({ onRequest: ({ body }) => requests.push(body) });
t.teardown(() => server.close());
const gateway = await startGateway({
  env: { SLUICE_PROVIDER: 'The "operator"' },
  catalog: `
engines:
  far: { wire: openai, replicas: [${server.url}] }
  one: { wire: openai, replicas: [${server.url}], fan_out_n: true }
models:
  lab/inside: { kind: chat, engine: simulator, context_length: 4096, pricing: { prompt: '0.000001', completion: '0.000002' } }
  lab/far: { kind: chat, engine: far, context_length: 4096, pricing: { prompt: '0.000001', completion: '0.000002' } }
  lab/one: { kind: chat, engine: one, context_length: 4096, pricing: { prompt: '0.000001', completion: '0.000002' } }
`,
});
t.teardown(() => gateway.stop());

const openai = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
const isCompletion = Compile(TextCompletion);
const isChunk = Compile(TextCompletionChunk);
const quote = (line: string) => `/sim rate=max text=${JSON.stringify(line)}\nGo on`;
const models = ['lab/inside', 'lab/far', 'lab/one'];
const none = {
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

const streamed = async (params: Omit<OpenAI.CompletionCreateParamsStreaming, 'stream'>) => {
  const chunks: OpenAI.Completion[] = [];
  for await (const chunk of await openai.completions.create({ ...params, stream: true })) chunks.push(chunk);
  return chunks;
};

const textOf = (chunks: readonly OpenAI.Completion[], index = 0): string =>
  chunks.map(({ choices }) => choices.find((choice) => choice.index === index)?.text ?? '').join('');

const checkChunks = (t: Test, chunks: readonly unknown[]): void => {
  for (const chunk of chunks) t.ok(isChunk.Check(chunk), JSON.stringify([chunk, isChunk.Errors(chunk)]));
};

for (const model of models) {
  t.test(`${model}: whole`, async (t) => {
    const answer = await openai.completions.create({ model, prompt: quote('Hello "there"\n😀') });
    t.ok(isCompletion.Check(answer), JSON.stringify(isCompletion.Errors(answer)));
    const { id, created, usage, ...rest } = answer;
    t.match(id, /^cmpl-[\w-]+$/);
    t.ok(Math.abs(created - Date.now() / 1000) < 60);
    t.same(rest, {
      object: 'text_completion',
      model,
      provider: 'The "operator"',
      choices: [{ text: 'Hello "there"\n😀', index: 0, logprobs: null, finish_reason: 'stop' }],
    });
    const { prompt_tokens = 0, completion_tokens = 0 } = usage ?? {};
    t.same(usage, {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
      ...none,
    });
    t.ok(prompt_tokens > 0 && completion_tokens > 3);
  });

  t.test(`${model}: sixteen tokens by default`, async (t) => {
    const prompt = '/sim rate=max tokens=40\nTell me of tides';
    const short = await openai.completions.create({ model, prompt });
    t.match(short, { choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 16 } });
    const long = await openai.completions.create({ model, prompt, max_tokens: 100 });
    t.match(long, { choices: [{ finish_reason: 'stop' }], usage: { completion_tokens: 40 } });
    t.ok(long.choices[0]?.text.startsWith(short.choices[0]?.text ?? '?'));
  });

  t.test(`${model}: stream`, async (t) => {
    const prompt = quote('One two three\n"four" 😀');
    const chunks = await streamed({ model, prompt });
    checkChunks(t, chunks);
    t.equal(textOf(chunks), 'One two three\n"four" 😀');
    t.equal(new Set(chunks.map(({ id }) => id)).size, 1);
    t.same(
      chunks.flatMap(({ choices }) => choices.flatMap((choice) => choice.finish_reason ?? [])),
      ['stop'],
    );
    t.same(
      chunks.filter(({ usage }) => usage),
      [chunks.at(-1)],
      'usage once, on the finish',
    );

    const asked = await streamed({ model, prompt, stream_options: { include_usage: true } });
    checkChunks(t, asked);
    t.match(asked.at(-1), { choices: [], usage: { completion_tokens: Number } });
    t.equal(asked.at(-2)?.usage, undefined);
  });

  t.test(`${model}: several prompts and choices`, async (t) => {
    const params = { model, prompt: [quote('First'), quote('Second')], n: 2 };
    const texts = ['First', 'First', 'Second', 'Second'];
    const whole = await openai.completions.create(params);
    t.same(
      whole.choices.map(({ text, index }) => [index, text]),
      texts.map((text, index) => [index, text]),
    );
    const single = await openai.completions.create({ ...params, n: 1 });
    t.equal(whole.usage?.prompt_tokens, single.usage?.prompt_tokens, 'prompts count once');
    t.equal(whole.usage?.completion_tokens, 2 * (single.usage?.completion_tokens ?? 0));
    const chunks = await streamed(params);
    checkChunks(t, chunks);
    t.same(
      texts.map((_, index) => textOf(chunks, index)),
      texts,
    );
  });

  t.test(`${model}: stop`, async (t) => {
    const stopped = await openai.completions.create({
      model,
      prompt: quote('One two three'),
      stop: [' three'],
    });
    t.match(stopped.choices, [{ text: 'One two', finish_reason: 'stop' }]);
  });

  t.test(`${model}: echo`, async (t) => {
    const prompt = quote('One "two"');
    const whole = await openai.completions.create({ model, prompt, echo: true });
    const plain = await openai.completions.create({ model, prompt });
    t.equal(whole.choices[0]?.text, `${prompt}One "two"`);
    t.same(whole.usage, plain.usage, 'an echo costs nothing');
    const chunks = await streamed({ model, prompt: [prompt, quote('Three')], echo: true });
    checkChunks(t, chunks);
    t.same([textOf(chunks), textOf(chunks, 1)], [`${prompt}One "two"`, `${quote('Three')}Three`]);
    const nothing = await openai.completions.create({ model, prompt, echo: true, max_tokens: 0 });
    t.match(nothing.choices, [{ text: prompt, finish_reason: 'length' }]);
  });

  t.test(`${model}: logprobs`, async (t) => {
    const prompt = quote('Tides 😀 rise');
    const params = { model, prompt, logprobs: 2, seed: 1 };
    const whole = await openai.completions.create(params);
    t.ok(isCompletion.Check(whole), JSON.stringify(isCompletion.Errors(whole)));
    const lists = whole.choices[0]?.logprobs;
    t.same(lists?.tokens, ['Tides', ' 😀', ' rise']);
    t.same(lists?.text_offset, [0, 5, 7], 'in characters');
    t.ok(lists?.token_logprobs?.every((logprob) => logprob < 0));
    t.same(
      lists?.top_logprobs?.map((top) => Object.keys(top).length),
      [2, 2, 2],
    );
    const chunks = await streamed(params);
    checkChunks(t, chunks);
    const parts = chunks.flatMap(({ choices }) => choices[0]?.logprobs ?? []);
    t.same(
      {
        tokens: parts.flatMap(({ tokens }) => tokens),
        token_logprobs: parts.flatMap(({ token_logprobs }) => token_logprobs),
        top_logprobs: parts.flatMap(({ top_logprobs }) => top_logprobs),
        text_offset: parts.flatMap(({ text_offset }) => text_offset),
      },
      lists,
      'the chunks add up',
    );
    const echoed = await openai.completions.create({
      model,
      prompt: 'High tide',
      echo: true,
      logprobs: 1,
      max_tokens: 0,
    });
    t.ok(isCompletion.Check(echoed), JSON.stringify(isCompletion.Errors(echoed)));
    t.match(echoed.choices[0], { text: 'High tide', finish_reason: 'length' });
    t.match(echoed.choices[0]?.logprobs, {
      tokens: ['High', ' tide'],
      token_logprobs: [null, Number],
      top_logprobs: [null, Object],
      text_offset: [0, 4],
    });
    const plain = await openai.completions.create({ model, prompt: quote('Ebb'), logprobs: 0 });
    t.match(plain.choices[0]?.logprobs, { tokens: ['Ebb'], top_logprobs: [{}] });
  });

  t.test(`${model}: a failure after the first token`, async (t) => {
    const failing = streamed({ model, prompt: '/sim rate=max tokens=9 fail=503@3\nGo', max_tokens: 50 });
    t.match(await thrownBy(failing), { code: 503, message: /^Simulated failure 503/ });
    const whole = openai.completions.create({ model, prompt: '/sim rate=max fail=503\nGo' });
    t.match(await thrownBy(whole), { status: 503 });
  });
}

t.test('what a wire sends', async (t) => {
  requests.length = 0;
  const params = {
    max_tokens: 5,
    temperature: 0.5,
    top_p: 0.9,
    presence_penalty: 1,
    frequency_penalty: -1,
    logit_bias: { '50256': -100 },
    seed: 7,
    stop: 'END',
    user: 'u1',
    n: 2,
    best_of: 2,
    logprobs: 3,
    echo: true,
  };
  await openai.completions.create({ ...params, model: 'lab/far', prompt: ['One', 'Two'] });
  await openai.completions.create({ model: 'lab/far', prompt: 'One', echo: true });
  await streamed({ model: 'lab/one', prompt: ['One', 'Two'], seed: 7 });
  t.strictSame(requests, [
    {
      model: 'lab/far',
      prompt: ['One', 'Two'],
      max_tokens: 5,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: -1,
      presence_penalty: 1,
      seed: 7,
      n: 2,
      stop: ['END'],
      logprobs: 3,
      echo: true,
      user: 'u1',
      logit_bias: { '50256': -100 },
    },
    { model: 'lab/far', prompt: 'One', max_tokens: 16, temperature: 1, top_p: 1 },
    ...['One', 'Two'].map((prompt) => ({
      model: 'lab/one',
      prompt,
      max_tokens: 16,
      stream: true,
      stream_options: { include_usage: true },
      temperature: 1,
      top_p: 1,
      seed: 7,
    })),
  ]);
});

t.test('token ids reach the engine, and the simulator refuses them by name', async (t) => {
  requests.length = 0;
  const ids: readonly (number[] | number[][])[] = [
    [5, 6],
    [[5, 6], [7]],
  ];
  for (const prompt of ids) {
    for (const model of ['lab/far', 'lab/inside']) {
      const refused = openai.completions.create({ model, prompt });
      t.match(await thrownBy(refused), { status: 400, error: { message: /^prompt must be text/ } });
    }
  }
  t.match(requests, [{ prompt: [5, 6] }, { prompt: [[5, 6], [7]] }]);
});

t.test('errors', async (t) => {
  const ask = (fields: object) => () =>
    openai.completions.create({
      model: 'lab/inside',
      prompt: 'Hi',
      ...fields,
    } as OpenAI.CompletionCreateParamsNonStreaming);
  const bad = (message: string | RegExp) => thrownAs(400, message, 'validation_error', 'invalid_request');
  const unsupported = (message: string) =>
    thrownAs(400, message, 'validation_error', 'unsupported_parameter');
  const refused: readonly (readonly [fields: object, shape: object])[] = [
    [{ prompt: undefined }, bad('prompt is required')],
    [{ prompt: null }, bad('prompt must be a string, an array of strings or token ids')],
    [{ prompt: [] }, bad('prompt must have at least 1 item')],
    [{ prompt: ['a', 5] }, bad('prompt[1] must be a string')],
    [{ prompt: [5, 'a'] }, bad('prompt[1] must be a token id, an integer of at least 0')],
    [{ prompt: [[5], []] }, bad('prompt[1] must have at least 1 item')],
    [{ prompt: Array(129).fill('a') }, bad('prompt must have at most 128 items, not 129')],
    [{ prompt: ['a', 'b', 'c'], n: 43 }, bad('n must be at most 42 for 3 prompts')],
    [{ max_tokens: -1 }, bad('max_tokens must be at least 0')],
    [{ logprobs: 6 }, bad('logprobs must be between 0 and 5')],
    [{ logprobs: true }, bad('logprobs must be an integer')],
    [{ stop: ['a', ''] }, bad('stop[1] must not be empty')],
    [{ echo: 'yes' }, bad('echo must be true or false')],
    [{ prompt: '/sim nonsense' }, bad('prompt: unknown /sim directive "nonsense"')],
    [{ suffix: 'the end' }, unsupported('suffix is not supported')],
    [{ best_of: 3 }, unsupported('best_of must be the same as n: others are not supported')],
    [{ min_p: 0.1 }, unsupported('min_p is not supported')],
    [
      { prompt: 'word '.repeat(5000) },
      bad(
        /^prompt is too long: 500\d tokens > 4064 maximum\. This model's maximum context length is 4096 tokens; shorten prompt$/,
      ),
    ],
    [{ prompt: ['short', 'word '.repeat(5000)] }, bad(/^prompt is too long: 500\d tokens > 4064 maximum/)],
    [{ prompt: Array(4064).fill(5) }, bad(/^prompt is too long: 4064 tokens > 4063 maximum/)],
  ];
  await testFailures(t, [
    ...refused.map(([fields, shape]): Failure => [ask(fields), OpenAI.BadRequestError, shape]),
    [ask({ model: 'lab/gone' }), OpenAI.NotFoundError, { status: 404 }],
  ]);
  t.match(await thrownBy(ask({ prompt: 'word '.repeat(5000) })()), {
    error: { metadata: { code: 'context_length_exceeded' } },
  });
});

t.test('the completion limit is cut to the window', async (t) => {
  const prompt = `/sim rate=max tokens=4000\n${'word '.repeat(3900)}`;
  const cut = await openai.completions.create({ model: 'lab/inside', prompt, max_tokens: 4000 });
  t.match(cut, { choices: [{ finish_reason: 'length' }] });
});

const usage = async (): Promise<readonly { readonly outcome: string }[]> => {
  const response = await fetch(`${gateway.url}/usage?group_by=request&limit=1000`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  const { data } = (await response.json()) as { data: { outcome: string; route: string }[] };
  return data;
};

t.test('usage is recorded, also of a client that leaves', async (t) => {
  const stream = await openai.completions.create({
    model: 'lab/far',
    prompt: '/sim rate=50/s tokens=1000\nGo',
    max_tokens: 1000,
    stream: true,
  });
  for await (const _ of stream) break;
  await eventually(() => server.stats().aborted > 0);
  const left = await eventually(async () => (await usage()).find(({ outcome }) => outcome === 'cancelled'));
  t.match(left, { route: '/completions', model: 'lab/far', status: 499 });
  const whole = await openai.completions.create({ model: 'lab/far', prompt: quote('One two') });
  const paid = await eventually(async () =>
    (await usage()).find((event) => JSON.stringify(event).includes(whole.id.slice('cmpl-'.length))),
  );
  t.match(paid, { route: '/completions', outcome: 'completed', status: 200 });
  const { prompt_tokens = 0, completion_tokens = 0 } = whole.usage ?? {};
  t.match(JSON.stringify(paid), `"prompt_tokens":${prompt_tokens},"completion_tokens":${completion_tokens}`);
});

t.test('the operator’s name is checked at the start', async (t) => {
  t.equal(loadConfig({}).provider, 'Sluice');
  t.equal(loadConfig({ SLUICE_PROVIDER: ' Tide & Co. ' }).provider, 'Tide & Co.');
  for (const name of ['x'.repeat(101), 'two\nlines'])
    t.throws(() => loadConfig({ SLUICE_PROVIDER: name }), { message: /^SLUICE_PROVIDER must be/ });
});
