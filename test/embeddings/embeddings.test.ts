/** Tests the embeddings route over a real socket: inputs, encodings, dimensions, billing and SDKs. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import { embed, embedMany } from 'ai';
import OpenAI from 'openai';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { EmbeddingsResponse } from '../../schemas/embeddings.ts';
import { floatsOf } from '../../src/ports/engines/embedding.ts';
import { countTokens } from '../../src/tokens/simulator.ts';
import { eventually } from '../eventually.ts';
import { thrownBy } from '../thrown-by.ts';
import { embeddingsOf, likeness, norm, startPosting, type Vectors, vectorsOf } from './posting.ts';

const { gateway, events, post, refusal } = await startPosting<Vectors>({
  catalog: `
models:
  sluice/embed: { kind: embedding, engine: simulator, context_length: 512, pricing: { prompt: '0.00000002' }, capabilities: { embedding: { dimensions: 384, batch: 256 } } }
  sluice/nested:
    kind: embedding
    engine: simulator
    context_length: 32768
    pricing: { prompt: '0.0000005' }
    capabilities: { embedding: { dimensions: 1024, truncatable: true, query_instruction: "Instruct: Find what answers\\nQuery: ", instruction_marker: 'Instruct:' } }
  sluice/texts: { kind: embedding, engine: simulator, context_length: 512, capabilities: { embedding: { dimensions: 64, token_ids: false } } }
  sluice/bare: { kind: embedding, engine: simulator, context_length: 512 }
  sluice/chat: { engine: simulator, context_length: 4096 }
  sluice/hidden: { kind: embedding, engine: simulator, context_length: 512, private: true }
`,
});
t.teardown(() => gateway.stop());

const model = 'sluice/embed';
const nested = 'sluice/nested';
const instruction = 'Instruct: Find what answers\nQuery: ';
const isResponse = Compile(EmbeddingsResponse);

t.test('a response', async (t) => {
  const said = await post('/embeddings', { model, input: ['Tides rise', 'Bread rises'] });
  t.equal(said.status, 200);
  t.ok(isResponse.Check(said.body), JSON.stringify(isResponse.Errors(said.body)));
  t.match(said.body.id, /^emb-[0-9a-f]+$/);
  t.same(
    { ...said.body, data: said.body.data.map((item) => ({ ...item, embedding: 'vector' })) },
    {
      id: said.body.id,
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: 'vector' },
        { object: 'embedding', index: 1, embedding: 'vector' },
      ],
      model,
      usage: { prompt_tokens: 4, total_tokens: 4 },
    },
  );
  for (const vector of vectorsOf(said)) {
    t.equal(vector.length, 384);
    t.ok(Math.abs(norm(vector) - 1) < 1e-6, 'unit length');
  }
  t.match(events.at(-1), {
    route: '/embeddings',
    model,
    engine: 'simulator',
    outcome: 'completed',
    status: 200,
    quantities: { prompt_tokens: 4, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, inputs: 2 },
    generated_tokens: 0,
    delivered_tokens: 0,
    cost: '0.00000008',
    first_token_ms: null,
  });
});

t.test('one text or several, as text or token ids, give the same vectors', async (t) => {
  // "hello world" in the vocabulary of most clients.
  const forms = ['hello world', ['hello world'], [15339, 1917], [[15339, 1917]]];
  const answers = await Promise.all(
    forms.map(async (input) => vectorsOf(await post('/embeddings', { model, input }))),
  );
  for (const answer of answers) t.same(answer, answers[0]);
  const two = await post('/embeddings', { model, input: [[15339, 1917], [2 ** 31 - 1]] });
  t.same(vectorsOf(two)[0], answers[0]?.[0]);
  t.ok(Math.abs(norm(vectorsOf(two)[1] ?? []) - 1) < 1e-6, 'an id of no vocabulary is something too');
  t.equal(two.body.usage.prompt_tokens, 3, 'ids are tokens');
});

t.test('base64 encodes the same numbers', async (t) => {
  const input = ['The moon pulls on the sea', '一二三', '!?'];
  for (const fields of [{ model }, { model: nested }, { model: nested, dimensions: 100 }]) {
    const floats = vectorsOf(await post('/embeddings', { ...fields, input, encoding_format: 'float' }));
    const said = await post('/embeddings', { ...fields, input, encoding_format: 'base64' });
    t.ok(isResponse.Check(said.body));
    const encoded = embeddingsOf(said);
    t.ok(encoded.every((embedding) => typeof embedding === 'string'));
    t.same(
      vectorsOf(said).map((vector) => vector.map(Math.fround)),
      floats.map((vector) => vector.map(Math.fround)),
    );
    t.same([...floatsOf(Buffer.from(JSON.stringify(encoded[0])))], vectorsOf(said)[0]);
  }
});

t.test('dimensions cut and renormalise', async (t) => {
  const input = ['What makes the tide?', 'The tide is made by the moon.', 'Yeast makes bread rise.'];
  const whole = vectorsOf(await post('/embeddings', { model: nested, input }));
  for (const dimensions of [1, 64, 100, 1023]) {
    const cut = vectorsOf(await post('/embeddings', { model: nested, input, dimensions }));
    for (const [index, vector] of cut.entries()) {
      t.equal(vector.length, dimensions);
      t.ok(Math.abs(norm(vector) - 1) < 1e-5, 'unit length');
      const first = whole[index]?.slice(0, dimensions) ?? [];
      t.ok(likeness(vector, first) > 1 - 1e-6, 'the first numbers');
    }
    const [query = [], near = [], far = []] = cut;
    if (dimensions >= 64) t.ok(likeness(query, near) > likeness(query, far), 'which stand alone');
  }
  t.same(vectorsOf(await post('/embeddings', { model: nested, input, dimensions: 1024 })), whole);
  t.equal(
    (await post('/embeddings', { model, input, dimensions: 384 })).status,
    200,
    'its own length fits any model',
  );
});

t.test('a query gets the instruction of its model, and its tokens are billed', async (t) => {
  const asked = async (fields: object) => {
    const { body } = await post('/embeddings', { model: nested, encoding_format: 'base64', ...fields });
    return body.usage.prompt_tokens;
  };
  const input = 'why do tides rise';
  const prefix = countTokens(instruction + input) - countTokens(input);
  t.ok(prefix > 0);
  t.equal(await asked({ input }), 4);
  for (const input_type of ['search_query', 'query']) {
    t.equal(await asked({ input, input_type }), 4 + prefix);
    t.equal(await asked({ input: [input, input], input_type }), 2 * (4 + prefix));
    const own = `Instruct: Mine\nQuery: ${input}`;
    t.equal(await asked({ input: own, input_type }), countTokens(own), 'it carries one already');
  }
  for (const input_type of ['search_document', 'Query', 'anything'])
    t.equal(await asked({ input, input_type }), 4, input_type);
  t.equal(await asked({ model, input, input_type: 'query' }), 4, 'a model without one');
});

t.test('similar texts have similar vectors', async (t) => {
  const documents = [
    'The Moon pulls on the oceans, and twice a day the tide rises and falls.',
    'A sourdough starter is flour and water in which wild yeast grows.',
    'Interest rates set by the central bank change what a mortgage costs.',
    'The cat slept on the warm windowsill all afternoon.',
    'Das Gericht entschied über die Berufung der Klägerin.',
  ];
  const queries = [
    'What causes the tides in the ocean?',
    'growing a yeast starter from flour',
    'mortgage interest rate',
    'Where does the cat sleep?',
    'Berufung bei Gericht',
  ];
  for (const id of [model, nested, 'sluice/bare']) {
    const found = vectorsOf(await post('/embeddings', { model: id, input: documents }));
    const asked = vectorsOf(await post('/embeddings', { model: id, input: queries, input_type: 'query' }));
    for (const [index, query] of asked.entries()) {
      const scores = found.map((document) => likeness(query, document));
      t.equal(scores.indexOf(Math.max(...scores)), index, `${id}: ${queries[index]}`);
    }
  }
  const [upper, lower] = vectorsOf(
    await post('/embeddings', { model, input: ['ÉCOLE Fermée', 'ecole fermee'] }),
  );
  t.same(upper, lower, 'case and accents make no difference');
});

t.test('an input that is too long is truncated', async (t) => {
  const long = Array.from({ length: 600 }, (_, index) => `word${index}`);
  const first = long.slice(0, 256).join(' ');
  const input = [long.join(' '), first, 'short', long.join(' ')];
  const said = await post('/embeddings', { model, input });
  const [whole, cut, , again] = vectorsOf(said);
  // "word7" is two tokens: a word and a number.
  t.equal(said.body.usage.prompt_tokens, 512 + 512 + 1 + 512);
  t.same(whole, cut);
  t.same(again, cut);
  const ids = Array.from({ length: 600 }, () => 15339);
  const cutIds = await post('/embeddings', { model, input: [ids, ids.slice(0, 512)] });
  t.equal(cutIds.body.usage.prompt_tokens, 1024);
  t.same(vectorsOf(cutIds)[0], vectorsOf(cutIds)[1]);
  const huge = await post('/embeddings', { model, input: `${'many words here '.repeat(100_000)}` });
  t.equal(huge.body.usage.prompt_tokens, 512, 'a large one is cut on a thread');
});

t.test('2048 inputs', async (t) => {
  const input = Array.from({ length: 2048 }, (_, index) => `number ${index}`);
  const said = await post('/embeddings', { model: nested, input, encoding_format: 'base64' });
  t.equal(said.status, 200);
  t.same(
    said.body.data.map(({ index }) => index),
    input.map((_, index) => index),
  );
  const few = await post('/embeddings', {
    model: nested,
    input: [input[0], input[1000], input[2047]],
    encoding_format: 'base64',
  });
  t.same(
    embeddingsOf(few),
    [0, 1000, 2047].map((index) => embeddingsOf(said)[index]),
    'each in its place',
  );
  t.match(events.at(-2), { quantities: { inputs: 2048 }, outcome: 'completed' });
});

t.test('errors name the invalid field', async (t) => {
  const forms = 'input must be a string, an array of strings or token ids';
  const ask = (fields: object) => ({ model, input: 'Hi', ...fields });
  const cases: readonly (readonly [body: unknown, says: string])[] = [
    ['', '400 The request body is empty; a JSON object is expected'],
    ['{"model":', '400 The request body is not valid JSON: unexpected end at line 1 column 10'],
    [[], '400 The request body must be a JSON object, not an array'],
    [{}, '400 model is required'],
    [{ input: 'Hi' }, '400 model is required'],
    [ask({ model: 7 }), '400 model must be a string'],
    [ask({ model: null }), '400 model must be a string'],
    [ask({ model: 'no/such' }), '404 No model named "no/such"'],
    [
      ask({ model: 'sluice/chat' }),
      '404 "sluice/chat" is of kind chat; this route takes models of kind embedding',
    ],
    [{ model }, '400 input is required'],
    [ask({ input: null }), `400 ${forms}`],
    [ask({ input: 7 }), `400 ${forms}`],
    [ask({ input: true }), `400 ${forms}`],
    [ask({ input: '' }), '400 input must not be empty'],
    [ask({ input: [] }), '400 input must have at least 1 item'],
    [ask({ input: [''] }), '400 input[0] must not be empty'],
    [ask({ input: ['a', ''] }), '400 input[1] must not be empty'],
    [ask({ input: ['a', 1] }), '400 input[1] must be a string'],
    [ask({ input: ['a', null] }), '400 input[1] must be a string'],
    [ask({ input: ['a', ['b']] }), '400 input[1] must be a string'],
    [ask({ input: [null] }), '400 input[0] must be a string or token ids'],
    [ask({ input: [true] }), '400 input[0] must be a string or token ids'],
    [ask({ input: [1, 'a'] }), '400 input[1] must be a token id, an integer of at least 0'],
    [ask({ input: [1, -1] }), '400 input[1] must be a token id, an integer of at least 0'],
    [ask({ input: [1.5] }), '400 input[0] must be a token id, an integer of at least 0'],
    [ask({ input: [2 ** 31] }), '400 input[0] must be a token id, an integer of at least 0'],
    [ask({ input: [1, [2]] }), '400 input[1] must be a token id, an integer of at least 0'],
    [ask({ input: [[]] }), '400 input[0] must have at least 1 item'],
    [ask({ input: [[1], []] }), '400 input[1] must have at least 1 item'],
    [ask({ input: [[1], 'a'] }), '400 input[1] must be an array of token ids'],
    [ask({ input: [[1, 'a']] }), '400 input[0][1] must be a token id, an integer of at least 0'],
    [ask({ input: [['a']] }), '400 input[0][0] must be a token id, an integer of at least 0'],
    [ask({ input: Array(2049).fill('a') }), '400 input must have at most 2048 items, not 2049'],
    [ask({ input: Array(2049).fill([1]) }), '400 input must have at most 2048 items, not 2049'],
    // multimodal
    [ask({ input: { text: 'a' } }), `400 ${forms}: multimodal inputs are not supported`],
    [
      ask({ input: [{ content: [{ type: 'text', text: 'a' }] }] }),
      '400 input[0] must be a string or token ids: multimodal inputs are not supported',
    ],
    [
      ask({
        input: ['a', { content: [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }] }],
      }),
      '400 input[1] must be a string: multimodal inputs are not supported',
    ],
    [
      ask({ input: [[1], { content: [] }] }),
      '400 input[1] must be an array of token ids: multimodal inputs are not supported',
    ],
    [ask({ encoding_format: 'int8' }), '400 encoding_format must be one of "float", "base64"'],
    [ask({ encoding_format: 1 }), '400 encoding_format must be one of "float", "base64"'],
    [ask({ dimensions: 0 }), '400 dimensions must be at least 1'],
    [ask({ dimensions: 1.5 }), '400 dimensions must be an integer'],
    [ask({ dimensions: '8' }), '400 dimensions must be an integer'],
    [
      ask({ dimensions: 8 }),
      `400 dimensions cannot be chosen on model ${model}: its vectors have a fixed length`,
    ],
    [
      ask({ model: 'sluice/bare', dimensions: 8 }),
      '400 dimensions cannot be chosen on model sluice/bare: its vectors have a fixed length',
    ],
    [ask({ model: nested, dimensions: 1025 }), `400 dimensions must be at most 1024 on model ${nested}`],
    [ask({ input_type: 5 }), '400 input_type must be a string'],
    [
      ask({ model: 'sluice/texts', input: [1] }),
      '400 input must be text: model sluice/texts takes no token ids',
    ],
    [
      ask({ model: nested, input: [1], input_type: 'query' }),
      `400 input must be text where input_type asks for the query instruction of model ${nested}`,
    ],
    // accepted
    [ask({ input: Array(2048).fill('a') }), '200'],
    [ask({ encoding_format: null, dimensions: null, input_type: null, user: null }), '200'],
    [ask({ provider: { order: ['x'] }, session_id: 's', trace: { id: 1 }, user: 7, unknown: true }), '200'],
    [ask({ model: `${model}-normalize` }), '200'],
    [ask({ model: `${model}:fast` }), '200'],
    [ask({ model: 'sluice/hidden' }), '200'],
  ];
  const before = events.length;
  for (const [body, says] of cases)
    t.equal(await refusal('/embeddings', body), says, JSON.stringify(body).slice(0, 100));
  t.equal(events.length - before, cases.filter(([, says]) => says === '200').length, 'refusals cost nothing');
});

t.test('failures of the engine', async (t) => {
  const failed = async (line: string) => {
    const said = await post('/embeddings', { model, input: `/sim ${line}\nHi` });
    return [said.status, said.body.error?.metadata.error_type ?? said.body.usage.prompt_tokens];
  };
  t.same(await failed('fail=503'), [503, 'provider_overloaded']);
  t.match(events.at(-1), { outcome: 'failed', status: 503, cost: '0' });
  t.same(await failed('fail=504'), [504, 'timeout']);
  t.same(await failed('drop@0'), [502, 'provider_unavailable']);
  t.same(await failed('fail=500'), [500, 'server']);
  t.same(await failed('stall=5ms first=1ms'), [200, 11]);
  t.same(await failed('usage=off'), [200, 6], 'counted here when the engine does not');
  t.same(
    await refusal('/embeddings', { model, input: ['/sim what', 'x'] }),
    '400 input: unknown /sim directive "what"',
  );
});

t.test('a client that disconnects', async (t) => {
  const before = events.length;
  const leaving = new AbortController();
  const asked = post('/embeddings', { model, input: '/sim first=1m\nHi' }, leaving.signal);
  await eventually(() => gateway.ports.admission.stats().running > 0, 'it runs');
  leaving.abort();
  await t.rejects(asked);
  await eventually(() => events.length > before, 'its event');
  t.match(events.at(-1), {
    outcome: 'cancelled',
    status: 499,
    quantities: { prompt_tokens: 0, inputs: 0 },
    cost: '0',
  });
});

t.test('the list of embedding models contains what is served', async (t) => {
  const response = await fetch(`${gateway.url}/embeddings/models`);
  const { data } = (await response.json()) as {
    data: { id: string; context_length: number; pricing: { prompt: string }; architecture: unknown }[];
  };
  t.same(
    data.map(({ id }) => id),
    [model, nested, 'sluice/texts', 'sluice/bare'],
  );
  for (const entry of data) {
    t.match(entry.architecture, { output_modalities: ['embeddings'] });
    const said = await post('/embeddings', { model: entry.id, input: 'a '.repeat(entry.context_length + 5) });
    t.equal(said.body.usage.prompt_tokens, entry.context_length, 'reads as much as its entry says');
    t.same(events.at(-1)?.price, entry.pricing, 'for the price its entry says');
  }
});

t.test('openai', async (t) => {
  const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  const input = ['The tide is high', 'The bread is baked'];
  const said = await client.embeddings.create({ model: nested, input });
  const floats = await client.embeddings.create({ model: nested, input, encoding_format: 'float' });
  t.equal(said.data[0]?.embedding.length, 1024, 'asked for as base64, decoded by the client');
  t.same(
    said.data.map(({ embedding }) => [...embedding].map(Math.fround)),
    floats.data.map(({ embedding }) => embedding.map(Math.fround)),
  );
  t.same(
    { ...said, data: [] },
    { ...said, object: 'list', model: nested, usage: { prompt_tokens: 8, total_tokens: 8 }, data: [] },
  );
  t.match(await thrownBy(client.embeddings.create({ model, input, dimensions: 3 })), { status: 400 });
});

t.test('openrouter', async (t) => {
  const client = new OpenRouter({
    serverURL: gateway.url,
    apiKey: gateway.key,
    retryConfig: { strategy: 'none' },
  });
  const said = await client.embeddings.generate({
    requestBody: {
      model: nested,
      input: ['One', 'Two'],
      inputType: 'search_query',
      user: 'u',
      sessionId: 's',
    },
  });
  t.match(said, {
    object: 'list',
    model: nested,
    data: [
      { object: 'embedding', index: 0 },
      { object: 'embedding', index: 1 },
    ],
  });
  t.notMatch(JSON.stringify(said), 'isUnknown');
  const listed = await client.embeddings.listModels();
  t.notMatch(JSON.stringify(listed), 'isUnknown');
  const multimodal = client.embeddings.generate({
    requestBody: { model, input: [{ content: [{ type: 'text', text: 'Hi' }] }] },
  });
  t.match(await thrownBy(multimodal), { statusCode: 400 });
});

t.test('ai sdk', async (t) => {
  const settings = { baseURL: gateway.url, apiKey: gateway.key };
  const models = [
    createOpenAICompatible({ name: 'sluice', ...settings }).embeddingModel(model),
    createOpenRouter(settings).textEmbeddingModel(model),
  ];
  for (const each of models) {
    const one = await embed({ model: each, value: 'The tide is high', maxRetries: 0 });
    t.equal(one.embedding.length, 384);
    t.equal(one.usage.tokens, 4);
    const many = await embedMany({
      model: each,
      values: ['The tide is high', 'The bread is baked'],
      maxRetries: 0,
    });
    t.same(many.embeddings[0], one.embedding);
    t.equal(many.embeddings.length, 2);
  }
});
