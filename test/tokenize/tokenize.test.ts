/** Tests the tokenizer routes over a real socket: texts, conversations, refusals, limits and known servers. */
import t, { type Test } from 'tap';
import { Compile } from 'typebox/compile';
import { DetokenizeResponse, TokenizeResponse } from '../../schemas/tokenize.ts';
import { startPosting } from '../embeddings/posting.ts';
import { type Script, startScriptedEngine } from '../engines/scripted-engine.ts';

interface Tokens {
  readonly count: number;
  readonly tokens: readonly number[];
  readonly token_strs: readonly string[] | null;
  readonly prompt: string;
}

const { gateway, events, post, refusal } = await startPosting<Tokens>({
  catalog: `
engines:
  bare: { wire: openai, replicas: ['http://127.0.0.1:9/v1'] }
models:
  sluice/chat: { engine: simulator, context_length: 4096 }
  sluice/embed: { kind: embedding, engine: simulator, context_length: 512 }
  sluice/narrow: { engine: simulator, context_length: 512, limits: { requests_per_minute: 1 } }
  sluice/image: { kind: image, engine: simulator }
  bare/chat: { engine: bare, context_length: 512 }
`,
});
t.teardown(() => gateway.stop());

const model = 'sluice/chat';
const isTokens = Compile(TokenizeResponse);
const isText = Compile(DetokenizeResponse);

t.test('a text', async (t) => {
  const before = events.length;
  const said = await post('/tokenize', { model, prompt: 'hello world' });
  t.equal(said.status, 200);
  t.ok(isTokens.Check(said.body));
  t.same(said.body, { count: 2, max_model_len: 4096, tokens: [15339, 1917], token_strs: null });
  const named = await post('/tokenize', { model, prompt: 'hello world', return_token_strs: true });
  t.same(named.body.token_strs, ['hello', ' world']);
  const back = await post('/detokenize', { model, tokens: [15339, 1917] });
  t.ok(isText.Check(back.body));
  t.same(back.body, { prompt: 'hello world' });
  t.same((await post('/tokenize', { model, prompt: '' })).body.tokens, []);
  t.same((await post('/detokenize', { model, tokens: [] })).body, { prompt: '' });
  t.equal((await post('/tokenize', { model: 'sluice/embed', prompt: 'one' })).body.count, 1);
  t.equal(events.length, before, 'nothing is billed');
});

t.test('long texts of any script come back as they were', async (t) => {
  for (const text of [
    '水門が開く。',
    'Grüße 👩‍🚀 an alle',
    `${'word '.repeat(20_000)}<|im_end|>`,
    'x'.repeat(5000),
  ]) {
    const { body } = await post('/tokenize', { model, prompt: text });
    t.equal(body.count, body.tokens.length);
    t.equal((await post('/detokenize', { model, tokens: body.tokens })).body.prompt, text);
  }
});

t.test('a conversation', async (t) => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', content: 'Hi.' },
  ];
  const textOf = async (fields: object): Promise<string> => {
    const { body } = await post('/tokenize', { model, messages, ...fields });
    return (await post('/detokenize', { model, tokens: body.tokens })).body.prompt;
  };
  const turns =
    '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nHi.<|im_end|>\n';
  t.equal(await textOf({}), `${turns}<|im_start|>assistant\n`);
  t.equal(await textOf({ add_generation_prompt: false }), turns);
  const tool = { type: 'function', function: { name: 'open', parameters: { type: 'object' } } };
  t.match(await textOf({ tools: [tool] }), /"name":"open"/);
});

t.test('refusals name the field', async (t) => {
  const image = {
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
  };
  const cases: readonly (readonly [string, object, string])[] = [
    ['/tokenize', { prompt: 'a' }, '400 model is required'],
    ['/tokenize', { model }, '400 either prompt or messages is required, and not both'],
    [
      '/tokenize',
      { model, prompt: 'a', messages: [{ role: 'user', content: 'a' }] },
      '400 either prompt or messages is required, and not both',
    ],
    ['/tokenize', { model, prompt: ['a'] }, '400 prompt must be a string'],
    ['/tokenize', { model, messages: [] }, '400 messages must have at least 1 item'],
    ['/tokenize', { model, messages: [{ role: 'user' }] }, '400 messages[0].content is required'],
    [
      '/tokenize',
      { model: 'sluice/embed', messages: [{ role: 'user', content: 'a' }] },
      '400 messages are for chat models; model sluice/embed takes prompt',
    ],
    ['/tokenize', { model: 'sluice/none', prompt: 'a' }, '404 No model named "sluice/none"'],
    [
      '/tokenize',
      { model: 'sluice/image', prompt: 'a' },
      '404 "sluice/image" is of kind image; this route takes models of kind chat, embedding, rerank, decision',
    ],
    [
      '/tokenize',
      { model: 'bare/chat', prompt: 'a' },
      '404 The engine of model bare/chat offers no tokenizer: it cannot tokenize',
    ],
    [
      '/detokenize',
      { model: 'bare/chat', tokens: [1] },
      '404 The engine of model bare/chat offers no tokenizer: it cannot detokenize',
    ],
    ['/detokenize', { model }, '400 tokens is required'],
    ['/detokenize', { model, tokens: 'a' }, '400 tokens must be an array'],
    ['/detokenize', { model, tokens: [1, -1] }, '400 tokens[1] must be a token id, an integer of at least 0'],
    ['/detokenize', { model, tokens: [1, 2 ** 30] }, '400 tokens[1] is not in the vocabulary of the model'],
  ];
  for (const [path, body, message] of cases) t.equal(await refusal(path, body), message);
  t.match(await refusal('/tokenize', { model, messages: [image] }), /^400 messages\[0\]\.content\[0\]/);
});

t.test('limits count these requests', async (t) => {
  const body = { model: 'sluice/narrow', prompt: 'a' };
  t.equal((await post('/tokenize', body)).status, 200);
  t.equal((await post('/tokenize', body)).status, 429);
});

t.test('failures of the engine', async (t) => {
  t.equal((await post('/tokenize', { model, prompt: '/sim fail=503@0\na' })).status, 503);
});

const start = async (t: Test, tokenizer: string, script: Script) => {
  const far = await startScriptedEngine(script);
  const posting = await startPosting<Tokens>({
    catalog: `
engines:
  far: { wire: openai, replicas: ['${far.url}'], tokenizer_api: ${tokenizer} }
models:
  far/chat: { engine: far, served_as: near, context_length: 512 }
`,
  });
  t.teardown(async () => {
    await posting.gateway.stop();
    await far.close();
  });
  return { ...posting, far };
};

const chat = { role: 'user', content: 'Hello' };

t.test('vLLM and SGLang', async (t) => {
  const { far, post } = await start(t, 'vllm', (request) => {
    if (request.head.startsWith('POST /tokenize '))
      request.json(200, { count: 2, max_model_len: 2048, tokens: [9, 8], token_strs: ['a', 'b'] });
    else request.json(200, request.body.includes('[9]') ? { prompt: 'a' } : { text: 'ab' });
  });
  const said = await post('/tokenize', {
    model: 'far/chat',
    prompt: 'ab',
    add_special_tokens: false,
    return_token_strs: true,
  });
  t.same(said.body, { count: 2, max_model_len: 512, tokens: [9, 8], token_strs: ['a', 'b'] });
  t.same(JSON.parse(far.requests[0]?.body ?? ''), {
    model: 'near',
    prompt: 'ab',
    add_special_tokens: false,
    return_token_strs: true,
  });
  t.match((await post('/tokenize', { model: 'far/chat', messages: [chat] })).body, { token_strs: null });
  t.same(JSON.parse(far.requests[1]?.body ?? ''), {
    model: 'near',
    messages: [chat],
    add_generation_prompt: true,
  });
  t.same((await post('/detokenize', { model: 'far/chat', tokens: [9] })).body, { prompt: 'a' });
  t.same((await post('/detokenize', { model: 'far/chat', tokens: [9, 8] })).body, { prompt: 'ab' }, 'SGLang');
  t.match(far.requests.at(-1)?.head, /^POST \/detokenize /);
});

t.test('llama.cpp', async (t) => {
  const { far, post, refusal } = await start(t, 'llama.cpp', (request) => {
    if (request.head.startsWith('POST /detokenize ')) request.json(200, { content: 'aé' });
    else if (request.body.includes('"with_pieces":true'))
      request.json(200, {
        tokens: [
          { id: 9, piece: 'a' },
          { id: 8, piece: [195] },
        ],
      });
    else request.json(200, { tokens: [9, 8] });
  });
  t.same((await post('/tokenize', { model: 'far/chat', prompt: 'aé' })).body.tokens, [9, 8]);
  t.same(JSON.parse(far.requests[0]?.body ?? ''), { content: 'aé', add_special: true, with_pieces: false });
  const named = await post('/tokenize', { model: 'far/chat', prompt: 'aé', return_token_strs: true });
  t.same(named.body.token_strs, ['a', '\ufffd']);
  t.same((await post('/detokenize', { model: 'far/chat', tokens: [9, 8] })).body, { prompt: 'aé' });
  t.same(JSON.parse(far.requests.at(-1)?.body ?? ''), { tokens: [9, 8] });
  t.equal(
    await refusal('/tokenize', { model: 'far/chat', messages: [chat] }),
    '400 messages cannot be tokenized by the engine of this model: send prompt',
  );
});

t.test('another Sluice', async (t) => {
  const near = await startPosting<Tokens>({
    catalog: `
engines:
  far: { wire: openai, replicas: ['${gateway.url}'], key_env: FAR_KEY, tokenizer_api: sluice }
models:
  near/chat: { engine: far, served_as: sluice/chat, context_length: 4096 }
`,
    env: { FAR_KEY: gateway.key },
  });
  t.teardown(() => near.gateway.stop());
  const said = await near.post('/tokenize', { model: 'near/chat', prompt: 'hello world' });
  t.same(said.body.tokens, [15339, 1917]);
  const back = await near.post('/detokenize', { model: 'near/chat', tokens: said.body.tokens });
  t.same(back.body, { prompt: 'hello world' });
});

t.test('broken responses', async (t) => {
  const broken: readonly unknown[] = [
    {},
    { tokens: 'none' },
    { tokens: ['a'] },
    { tokens: [1.5] },
    'nothing',
  ];
  for (const answer of broken) {
    const { refusal } = await start(t, 'vllm', (request) => request.json(200, answer));
    t.equal(
      await refusal('/tokenize', { model: 'far/chat', prompt: 'a' }),
      '502 The engine sent an answer that cannot be read',
    );
    t.equal(
      await refusal('/detokenize', { model: 'far/chat', tokens: [1] }),
      '502 The engine sent an answer that cannot be read',
    );
  }
  const { refusal } = await start(t, 'vllm', (request) =>
    request.json(200, { tokens: [1, 2], token_strs: ['a'] }),
  );
  t.match(await refusal('/tokenize', { model: 'far/chat', prompt: 'a', return_token_strs: true }), /^502/);
});
