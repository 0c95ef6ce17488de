/** Tests what engines are sent: forwarded fields, defaults, and values that servers refuse. */
import t from 'tap';
import { envelope } from '../envelope.ts';
import { type Answer, completion, startBehindGateway } from './behind-gateway.ts';

const catalog = (url: string) => `
engines:
  plain: { wire: openai, replicas: ['${url}'] }
  vllm: { wire: openai, replicas: ['${url}'], forward: [min_p, structured_outputs, chat_template_kwargs, priority, prompt_cache_key, logit_bias] }
  far: { wire: openai, replicas: ['${url}'], forward: ['*'] }
models:
  lab/plain: { engine: plain, served_as: writer, context_length: 8192, tokenizer: simulator }
  lab/vllm: { engine: vllm, served_as: writer, context_length: 8192, tokenizer: simulator, default_parameters: { temperature: 0.6, top_p: 0.95, top_k: 20, frequency_penalty: 0.1, presence_penalty: 0.2, repetition_penalty: 1.05 } }
  lab/own: { engine: vllm, served_as: writer, context_length: 8192, tokenizer: simulator, forward: [ignore_eos] }
  lab/none: { engine: far, served_as: writer, context_length: 8192, tokenizer: simulator, forward: [] }
  lab/far: { engine: far, served_as: writer, context_length: 8192, tokenizer: simulator }
  lab/thinker: { engine: far, served_as: writer, context_length: 8192, tokenizer: simulator, reasoning: { mandatory: false, default_enabled: true, wire: { enabled_field: chat_template_kwargs.enable_thinking } } }
`;

const messages = [{ role: 'user', content: 'Hi' }];
const text = {
  id: 'cmpl-1',
  object: 'text_completion',
  choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }],
};

/** A request of each format that says the same. */
const formats = {
  '/chat/completions': { messages },
  '/completions': { prompt: 'Hi' },
  '/messages': { messages, max_tokens: 16 },
  '/responses': { input: 'Hi' },
};

const refusalOf = ({ json }: Answer): unknown => {
  const { error } = json as { error: { message: string; metadata?: { error_type: string } } };
  return [error.message, error.metadata?.error_type];
};

t.test('engines and fields', async (t) => {
  const { post, sent, engine } = await startBehindGateway(
    t,
    (request) => request.json(200, request.head.includes('/chat/') ? completion({ content: 'Hello' }) : text),
    catalog,
  );
  const ask = (model: string, fields: object) => post('/chat/completions', { model, messages, ...fields });
  const basic = { model: 'writer', messages, max_tokens: 8192 - 32 - 100 };

  t.test('a row names the fields that its engine is sent', async (t) => {
    const fields = {
      min_p: 0.05,
      structured_outputs: { choice: ['yes', 'no'] },
      chat_template_kwargs: { style: 'terse', nothing: null },
      priority: -1,
      prompt_cache_key: 'k',
      logit_bias: { '7': 1 },
    };
    const answer = await ask('lab/vllm', { ...fields, max_tokens: 9, cache_salt: 's', unknown: [1] });
    t.equal(answer.status, 200, answer.text);
    t.strictSame(sent(), {
      model: 'writer',
      messages,
      max_tokens: 9,
      temperature: 0.6,
      top_p: 0.95,
      top_k: 20,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      repetition_penalty: 1.05,
      ...fields,
    });
  });

  t.test('in every format', async (t) => {
    for (const [path, request] of Object.entries(formats)) {
      const forwarded = { min_p: 0.05, prompt_cache_key: 'k', priority: 3 };
      const answer = await post(path, { model: 'lab/vllm', ...request, ...forwarded });
      t.equal(answer.status, 200, `${path} ${answer.text}`);
      t.match(sent(), forwarded, path);
    }
  });

  t.test('what is not forwarded and changes the answer is refused by name, in every format', async (t) => {
    const called = engine.requests.length;
    for (const [path, request] of Object.entries(formats)) {
      for (const model of ['lab/plain', 'lab/own', 'lab/none']) {
        const answer = await post(path, { model, ...request, min_p: 0.05 });
        t.equal(answer.status, 400, path);
        const type = path === '/messages' ? undefined : 'unsupported_parameter';
        t.strictSame(refusalOf(answer), ['min_p is not supported', type], `${path} ${model}`);
      }
    }
    const hints = {
      '/chat/completions': 'guided_json is not supported: use response_format',
      '/completions': 'guided_json is not supported',
      '/messages': 'guided_json is not supported: use output_config.format',
      '/responses': 'guided_json is not supported: use text.format',
    };
    for (const [path, request] of Object.entries(formats)) {
      const answer = await post(path, { model: 'lab/plain', ...request, guided_json: { type: 'object' } });
      t.match(refusalOf(answer), [hints[path as keyof typeof hints]]);
    }
    t.equal(engine.requests.length, called, 'no engine was called');
  });

  t.test('a whole refusal', async (t) => {
    const { status, headers, json } = await ask('lab/own', { chat_template_kwargs: { a: 1 } });
    t.equal(status, 400);
    t.equal(headers.get('retry-after'), null);
    const expected = envelope(
      400,
      'chat_template_kwargs is not supported',
      'validation_error',
      'unsupported_parameter',
    );
    t.strictSame(json, expected);
    const off = await ask('lab/plain', { enable_thinking: false });
    t.match(refusalOf(off), ['enable_thinking is not supported: use reasoning'], 'off is a change too');
  });

  t.test('the rest is ignored', async (t) => {
    const answer = await ask('lab/plain', {
      max_tokens: 9,
      cache_salt: 's',
      priority: 1,
      store: true,
      unknown: { a: 1 },
      min_p: 0,
      ignore_eos: false,
    });
    t.equal(answer.status, 200);
    t.strictSame(sent(), { ...basic, max_tokens: 9, temperature: 1, top_p: 1 });
  });

  t.test("a model's own list replaces its engine's", async (t) => {
    t.equal((await ask('lab/own', { ignore_eos: true })).status, 200);
    t.equal(sent().ignore_eos, true);
    t.match(refusalOf(await ask('lab/own', { structured_outputs: { regex: 'a' } })), [
      'structured_outputs is not supported: use response_format',
    ]);
  });

  t.test('* is every field that the gateway does not read itself', async (t) => {
    const answer = await post('/messages', {
      model: 'lab/far',
      messages,
      max_tokens: 9,
      anything: { deep: [null, { a: 1 }] },
      constructor: 'x',
      stream_options: { include_usage: false },
      max_completion_tokens: null,
      user: 'not by this name',
    });
    t.equal(answer.status, 200, answer.text);
    t.strictSame(sent(), {
      ...basic,
      max_tokens: 9,
      temperature: 1,
      top_p: 1,
      anything: { deep: [null, { a: 1 }] },
      constructor: 'x',
    });
    const outranked = await post('/messages', { model: 'lab/far', messages, max_tokens: 9, n: 5 });
    t.match(refusalOf(outranked), ['n is not supported: it belongs to /chat/completions']);
    const audio = await ask('lab/far', { modalities: ['text', 'audio'] });
    t.match(refusalOf(audio), ['modalities is not supported'], 'sound has no place in the answer');
  });

  t.test('a field that the gateway sets is its own, those beside it are the client’s', async (t) => {
    await ask('lab/thinker', {
      reasoning_effort: 'none',
      chat_template_kwargs: { enable_thinking: true, style: 'terse' },
      add_generation_prompt: true,
      messages: [...messages, { role: 'assistant', content: 'Hel' }],
    });
    t.match(sent(), {
      chat_template_kwargs: { enable_thinking: false, style: 'terse' },
      continue_final_message: true,
      add_generation_prompt: false,
    });
  });

  t.test('long base64 of a large request is text again', async (t) => {
    const base64 = Buffer.alloc(300_000, 'x').toString('base64');
    const answer = await ask('lab/far', { custom: { data: base64 }, max_tokens: 9 });
    t.equal(answer.status, 200);
    t.ok((sent().custom as { data: string }).data === base64);
  });

  t.test('the contract’s defaults are sent, and a client’s own values before any default', async (t) => {
    for (const [path, request] of Object.entries(formats)) {
      await post(path, { model: 'lab/plain', ...request });
      t.match(sent(), { temperature: 1, top_p: 1, top_k: undefined, repetition_penalty: undefined }, path);
      await post(path, { model: 'lab/vllm', ...request });
      t.match(sent(), { temperature: 0.6, top_p: 0.95, top_k: 20, repetition_penalty: 1.05 }, path);
      await post(path, { model: 'lab/vllm', ...request, temperature: 0, top_p: 0.5, top_k: 0 });
      t.match(sent(), { temperature: 0, top_p: 0.5, top_k: 1 << 30, repetition_penalty: 1.05 }, path);
    }
  });

  t.test('values that servers refuse', async (t) => {
    await ask('lab/plain', { temperature: 0, top_p: 0, repetition_penalty: 0 });
    t.match(sent(), { temperature: 0, top_p: 1e-6, repetition_penalty: 0.01 });
    await ask('lab/plain', { temperature: 0, n: 3 });
    t.match(sent(), { temperature: 0.01, n: 3 });
    await post('/completions', { model: 'lab/plain', prompt: 'Hi', temperature: 0, n: 2, top_p: 0 });
    t.match(sent(), { temperature: 0.01, n: 2, top_p: 1e-6 });
  });
});
