/** Tests rerank engines over HTTP: the shapes of known servers, batches, refused sizes and broken responses. */
import t, { type Test } from 'tap';
import { countTokens } from '../../src/tokens/count.ts';
import { startPosting } from '../embeddings/posting.ts';
import { type ReceivedRequest, type Script, startScriptedEngine } from '../engines/scripted-engine.ts';

interface Asked {
  readonly query: string;
  readonly documents?: readonly string[];
  readonly texts?: readonly string[];
}

interface Ranking {
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
  readonly usage: { readonly prompt_tokens: number };
}

const asked = ({ body }: ReceivedRequest): Asked => JSON.parse(body);
const documentsOf = (request: ReceivedRequest): readonly string[] =>
  asked(request).documents ?? asked(request).texts ?? [];
/** A document is as relevant as the number it begins with; the best first, as servers sort them. */
const ranked = (request: ReceivedRequest) =>
  documentsOf(request)
    .map((text, index) => ({ index, score: Number.parseFloat(text), text }))
    .sort((one, other) => other.score - one.score);

/** What each server responds with. */
const servers: Readonly<Record<string, Script>> = {
  vLLM: (request) =>
    request.json(200, {
      id: 'rerank-1',
      model: 'near',
      usage: { prompt_tokens: 30, total_tokens: 30 },
      results: ranked(request).map(({ index, score, text }) => ({
        index,
        document: { text, multi_modal: null },
        relevance_score: score,
      })),
    }),
  'vLLM, an older one': (request) =>
    request.json(200, {
      id: 'rerank-1',
      model: 'near',
      usage: { total_tokens: 30 },
      results: ranked(request).map(({ index, score, text }) => ({
        index,
        document: { text },
        relevance_score: score,
      })),
    }),
  'llama.cpp': (request) =>
    request.json(200, {
      model: 'near',
      object: 'list',
      usage: { prompt_tokens: 30, total_tokens: 30 },
      results: ranked(request).map(({ index, score }) => ({ index, relevance_score: score })),
    }),
  Infinity: (request) =>
    request.json(200, {
      object: 'rerank',
      results: ranked(request).map(({ index, score }) => ({ relevance_score: score, index, document: null })),
      model: 'near',
      usage: { prompt_tokens: 30, total_tokens: 30 },
      id: 'infinity-1',
      created: 1,
    }),
};
const silent: Readonly<Record<string, Script>> = {
  SGLang: (request) =>
    request.json(
      200,
      ranked(request).map(({ index, score, text }) => ({
        score,
        document: text,
        index,
        meta_info: { id: 'a', prompt_tokens: 9 },
      })),
    ),
  TEI: (request) =>
    request.json(
      200,
      ranked(request).map(({ index, score }) => ({ index, score })),
    ),
};

const start = async (t: Test, script: Script, capabilities = '{}') => {
  const far = await startScriptedEngine(script);
  const posting = await startPosting<Ranking>({
    catalog: `
engines:
  far: { wire: openai, replicas: ['${far.url}'] }
models:
  far/rerank: { kind: rerank, engine: far, served_as: near, context_length: 512, pricing: { prompt: '0.000001' }, capabilities: { rerank: ${capabilities} } }
`,
  });
  t.teardown(async () => {
    await posting.gateway.stop();
    await far.close();
  });
  const ask = (documents: readonly string[], fields: object = {}) =>
    posting.post('/rerank', { model: 'far/rerank', query: 'Which?', documents, ...fields });
  return { ...posting, far, ask };
};

const documents = ['0.25 low', '-3.5 negative', '0.75 high'];
const order = [2, 0, 1];

t.test('responses of known servers', async (t) => {
  for (const [name, script] of Object.entries({ ...servers, ...silent })) {
    const { far, ask } = await start(t, script);
    const said = await ask(documents, { top_n: 2 });
    t.equal(said.status, 200, name);
    t.same(
      said.body.results.map(({ index, relevance_score }) => [index, relevance_score]),
      [
        [2, 0.75],
        [0, 0.25],
      ],
      name,
    );
    t.equal(
      said.body.usage.prompt_tokens,
      name in servers ? 30 : 3 * countTokens(['Which?'], 'o200k_base') + countTokens(documents, 'o200k_base'),
      name,
    );
    t.match(far.requests[0]?.head, /^POST \/v1\/rerank /);
    t.same(JSON.parse(far.requests[0]?.body ?? ''), {
      model: 'near',
      query: 'Which?',
      documents,
      return_documents: false,
    });
  }
});

t.test('the request of TEI', async (t) => {
  const { far, ask } = await start(t, silent.TEI as Script, '{ asked_by: tei }');
  t.same(
    (await ask(documents)).body.results.map(({ index }) => index),
    order,
  );
  t.same(JSON.parse(far.requests[0]?.body ?? ''), { query: 'Which?', texts: documents, truncate: true });
});

const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${(at * 37) % count}.5 x`);

t.test('batches are ranked together', async (t) => {
  const { far, ask } = await start(t, servers['llama.cpp'] as Script, '{ batch: 10 }');
  const many = numbers(45);
  const said = await ask(many);
  t.equal(far.requests.length, 5);
  t.same(
    said.body.results.map(({ index }) => many[index]),
    [...many].sort((one, other) => Number.parseFloat(other) - Number.parseFloat(one)),
  );
  t.equal(said.body.usage.prompt_tokens, 5 * 30);
});

t.test('a batch that is refused for its size is sent in parts', async (t) => {
  const { far, ask } = await start(t, (request) => {
    if (documentsOf(request).length > 32)
      request.json(413, { error: 'batch size 50 > maximum allowed batch size 32', error_type: 'Validation' });
    else (silent.TEI as Script)(request);
  });
  const said = await ask(numbers(50));
  t.equal(said.status, 200);
  t.equal(said.body.results.length, 50);
  t.equal(far.requests.length, 3);
});

t.test('broken responses', async (t) => {
  const broken: Readonly<Record<string, Script>> = {
    'a score is missing': (request) => request.json(200, { results: [{ index: 0, relevance_score: 1 }] }),
    'a number that is none': (request) =>
      request.json(200, { results: documents.map((_, index) => ({ index, relevance_score: null })) }),
    'no number of a document': (request) =>
      request.json(
        200,
        documents.map(() => ({ score: 1 })),
      ),
    'a document that was not sent': (request) =>
      request.json(
        200,
        [0, 1, 7].map((index) => ({ index, score: 1 })),
      ),
    'an error in a success': (request) =>
      request.json(200, { error: { message: 'out of memory', code: 500 } }),
    'no JSON': (request) => request.json(200, 'nothing'),
    nothing: (request) => request.json(200, ''),
    'half of it': (request) => request.json(200, '{"results":[{"index":0,'),
  };
  for (const [name, script] of Object.entries(broken)) {
    const { ask, events } = await start(t, script);
    const said = await ask(documents);
    t.equal(said.status, 502, name);
    t.match(events.at(-1), { route: '/rerank', outcome: 'failed', cost: '0' }, name);
  }
});

t.test('a refusal of the engine is told', async (t) => {
  const { ask } = await start(t, (request) =>
    request.json(400, { error: { message: 'The model does not support Reranking (Score) API', code: 400 } }),
  );
  const said = await ask(documents);
  t.equal(said.status, 400);
  t.equal(said.body.error?.message, 'The model does not support Reranking (Score) API');
});
