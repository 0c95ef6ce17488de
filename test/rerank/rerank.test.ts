/** Tests the rerank route over a real socket: order, documents, cuts, refusals, billing and an SDK. */
import { OpenRouter } from '@openrouter/sdk';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { RerankResponse } from '../../schemas/rerank.ts';
import { countTokens } from '../../src/tokens/simulator.ts';
import { startPosting } from '../embeddings/posting.ts';

interface Ranking {
  readonly id: string;
  readonly results: readonly {
    readonly index: number;
    readonly relevance_score: number;
    readonly document?: { readonly text: string };
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

const { gateway, events, post, refusal } = await startPosting<Ranking>({
  catalog: `
models:
  sluice/rerank: { kind: rerank, engine: simulator, context_length: 64, pricing: { prompt: '0.00000002' } }
  sluice/narrow: { kind: rerank, engine: simulator, context_length: 512, limits: { requests_per_minute: 1 } }
  sluice/chat: { engine: simulator, context_length: 4096 }
`,
});
t.teardown(() => gateway.stop());

const model = 'sluice/rerank';
const isResponse = Compile(RerankResponse);
const query = 'When does the tide rise?';
const documents = [
  'Yeast makes bread rise.',
  'The tide rises twice a day.',
  'Locks have gates.',
  { text: 'A tide table lists the hours of high water.' },
];

t.test('a response', async (t) => {
  const said = await post('/rerank', { model, query, documents });
  t.equal(said.status, 200);
  t.ok(isResponse.Check(said.body), JSON.stringify(isResponse.Errors(said.body)));
  t.match(said.body.id, /^rerank-[0-9a-f]+$/);
  const texts = documents.map((each) => (typeof each === 'string' ? each : each.text));
  const tokens = texts.reduce((sum, text) => sum + countTokens(query) + countTokens(text), 0);
  t.same(said.body, {
    id: said.body.id,
    object: 'list',
    model,
    results: [1, 0, 3, 2].map((index, place) => ({
      index,
      relevance_score: said.body.results[place]?.relevance_score,
      document: { text: texts[index] },
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    meta: { billed_units: { input_tokens: tokens } },
  });
  t.equal(tokens, 50);
  const scores = said.body.results.map(({ relevance_score }) => relevance_score);
  t.ok(
    scores.every((score, at) => score >= 0 && score <= 1 && score <= (scores[at - 1] ?? 1)),
    'from 1 down to 0',
  );
  t.match(events.at(-1), {
    route: '/rerank',
    model,
    engine: 'simulator',
    outcome: 'completed',
    status: 200,
    quantities: { prompt_tokens: tokens, completion_tokens: 0, inputs: 4 },
    generated_tokens: 0,
    cost: '0.000001',
  });
  t.same(
    (await post('/rerank', { model, query, documents })).body.results,
    said.body.results,
    'the same again',
  );
});

t.test('top_n and return_documents', async (t) => {
  const all = await post('/rerank', { model, query, documents });
  const best = await post('/rerank', { model, query, documents, top_n: 2, return_documents: false });
  t.same(
    best.body.results,
    all.body.results.slice(0, 2).map(({ index, relevance_score }) => ({ index, relevance_score })),
  );
  t.same(best.body.usage, all.body.usage, 'all are read, and billed');
  t.equal((await post('/rerank', { model, query, documents, top_n: 99 })).body.results.length, 4);
  t.same(
    (await post('/rerank', { model, query: 'water', documents: ['sand', 'sand', 'sand'] })).body.results.map(
      ({ index }) => index,
    ),
    [0, 1, 2],
    'equals stay in order',
  );
});

t.test('documents that are too long are cut, the query is not', async (t) => {
  const long = `${'sand '.repeat(200)}tide`;
  const said = await post('/rerank', { model, query, documents: [long, 'tide'] });
  const [best, cut] = said.body.results;
  t.equal(best?.index, 1);
  t.equal(cut?.document?.text, long, 'the results have the document as it was sent');
  t.equal(said.body.usage.prompt_tokens, 64 - 4 + countTokens(query) + 1);
  const short = await post('/rerank', { model, query: 'tide', documents: [long], max_tokens_per_doc: 5 });
  t.equal(short.body.usage.prompt_tokens, 6);
  t.equal(
    await refusal('/rerank', { model, query: 'tide '.repeat(80), documents: ['a'] }),
    '400 query is too long: it has 81 tokens, model sluice/rerank reads 64 with a document',
  );
});

t.test('refusals name the field', async (t) => {
  const good = { model, query, documents };
  const cases: readonly (readonly [object, string])[] = [
    [{ query, documents }, '400 model is required'],
    [{ model, documents }, '400 query is required'],
    [{ ...good, query: '' }, '400 query must not be empty'],
    [{ ...good, query: ['a'] }, '400 query must be a string'],
    [{ model, query }, '400 documents is required'],
    [{ ...good, documents: [] }, '400 documents must have at least 1 item'],
    [{ ...good, documents: 'a' }, '400 documents must be an array'],
    [{ ...good, documents: Array(1001).fill('a') }, '400 documents must have at most 1000 items, not 1001'],
    [{ ...good, documents: ['a', ''] }, '400 documents[1] must not be empty'],
    [{ ...good, documents: ['a', 5] }, '400 documents[1] must be a string or an object with a text'],
    [{ ...good, documents: [{ title: 'a' }] }, '400 documents[0].text must be a string'],
    [{ ...good, documents: [{ text: '' }] }, '400 documents[0].text must not be empty'],
    [{ ...good, documents: [{ text: 'a', image: 'b' }] }, '400 documents[0].image: images are not supported'],
    [{ ...good, top_n: 0 }, '400 top_n must be at least 1'],
    [{ ...good, top_n: 1.5 }, '400 top_n must be an integer'],
    [{ ...good, return_documents: 'yes' }, '400 return_documents must be true or false'],
    [{ ...good, model: 'sluice/none' }, '404 No model named "sluice/none"'],
    [
      { ...good, model: 'sluice/chat' },
      '404 "sluice/chat" is of kind chat; this route takes models of kind rerank',
    ],
  ];
  for (const [body, message] of cases) t.equal(await refusal('/rerank', body), message);
  t.equal(
    await refusal('/embeddings', { model, input: 'a' }),
    '404 "sluice/rerank" is of kind rerank; this route takes models of kind embedding',
  );
});

t.test('failures of the engine, and its silence about tokens', async (t) => {
  const failed = await post('/rerank', { model, query: '/sim fail=503@0\nWater', documents: ['a'] });
  t.equal(failed.status, 503);
  t.match(events.at(-1), { route: '/rerank', outcome: 'failed', status: 503, cost: '0' });
  const quiet = await post('/rerank', {
    model,
    query: '/sim usage=off\nWater',
    documents: ['one two', 'three'],
  });
  t.equal(quiet.body.usage.prompt_tokens, 2 * countTokens('/sim usage=off\nWater') + 3, 'counted here');
});

t.test('limits', async (t) => {
  const body = { model: 'sluice/narrow', query, documents };
  t.equal((await post('/rerank', body)).status, 200);
  const refused = await post('/rerank', body);
  t.equal(refused.status, 429);
  t.match(refused.headers.get('retry-after'), /^\d+$/);
});

t.test('rerank models are listed', async (t) => {
  const list = (await (await fetch(`${gateway.url}/models?output_modalities=rerank`)).json()) as {
    readonly data: readonly { readonly id: string }[];
  };
  t.same(
    list.data.map(({ id }) => id),
    ['sluice/rerank', 'sluice/narrow'],
  );
  t.match(list.data[0], {
    architecture: { input_modalities: ['text'], output_modalities: ['rerank'] },
    pricing: { prompt: '0.00000002', completion: '0' },
    supported_parameters: ['top_n', 'return_documents', 'max_tokens_per_doc'],
  });
});

t.test('the OpenRouter SDK', async (t) => {
  const client = new OpenRouter({
    serverURL: gateway.url,
    apiKey: gateway.key,
    retryConfig: { strategy: 'none' },
  });
  const said = await client.rerank.rerank({ requestBody: { model, query, documents, topN: 2 } });
  t.match(said, {
    id: /^rerank-/,
    model,
    results: [
      { index: 1, document: { text: 'The tide rises twice a day.' } },
      { index: 0, document: { text: 'Yeast makes bread rise.' } },
    ],
  });
});
