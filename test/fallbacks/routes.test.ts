/** Tests fallbacks on routes other than conversations: the engine asked for fails, the simulator answers. */
import OpenAI, { toFile } from 'openai';
import t, { type Test } from 'tap';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { codec, wave } from '../audio/sounds.ts';
import { callsOf } from '../vector-store/stores.ts';
import { answer, startSite } from './fixtures.ts';

/** `sluice/image` as `dead/image`, whose engine fails and whose fallback it is. */
const rows = Object.fromEntries(
  ['embed', 'rerank', 'decide', 'image', 'image-edit', 'speech', 'transcribe'].flatMap((name) => {
    const model = defaultCatalog.models.find(({ id }) => id === `sluice/${name}`);
    if (model === undefined) throw new Error(`The default catalog has no ${name}`);
    const { id, ...row } = model;
    const speech =
      row.kind === 'speech' ? { capabilities: { speech: { asked_by: 'vllm', clone: true } } } : {};
    return [
      [`dead/${name}`, { ...row, ...speech, legacy_ids: [], engine: 'sick', fallbacks: [id], pricing: {} }],
      [id, row],
    ];
  }),
);

const site = await startSite(t, (request) => request.json(500, {}), {
  models: rows,
  engine: { circuit_breaker: { server_failures: 1000 } },
});
t.teardown(() => codec.close());
const client = new OpenAI({ baseURL: site.gateway.url, apiKey: site.gateway.key, maxRetries: 0 });
let requests = 0;

/** The last one is billed once, by the fallback's price. */
const billedTo = async (t: Test, name: string, cost: RegExp): Promise<void> => {
  requests++;
  const all = await site.billed(requests);
  t.equal(all.length, requests);
  t.match(all.at(-1), {
    model: `sluice/${name}`,
    requested_model: `dead/${name}`,
    outcome: 'completed',
    cost,
  });
};

t.test('embeddings', async (t) => {
  const { model, data } = await client.embeddings.create({ model: 'dead/embed', input: ['one', 'two'] });
  t.equal(model, 'sluice/embed');
  t.equal(data.length, 2);
  await billedTo(t, 'embed', /^0\.0/);
});

t.test('rerank', async (t) => {
  const response = await site.post('/rerank', { model: 'dead/rerank', query: 'a', documents: ['b', 'a'] });
  t.match(await response.json(), { model: 'sluice/rerank', results: [{ index: 1 }, { index: 0 }] });
  await billedTo(t, 'rerank', /^0\.0/);
});

t.test('decisions', async (t) => {
  const questions = { q: { type: 'noul', instructions: 'Is it?' } };
  const response = await site.post('/systemone', { model: 'dead/decide', state: 'It is.', questions });
  t.match(await response.json(), { model: 'sluice/decide', answers: { q: { type: 'noul' } } });
  await billedTo(t, 'decide', /^0\.0/);
});

t.test('images', async (t) => {
  const drawn = await client.images.generate({
    model: 'dead/image',
    prompt: 'a house',
    size: '256x256',
    response_format: 'b64_json',
  });
  t.match(drawn, { usage: { cost: 0.00032768 } });
  await billedTo(t, 'image', /^0\.00032768$/);
});

t.test('speech', async (t) => {
  const spoken = await client.audio.speech.create({
    model: 'dead/speech',
    voice: 'ben',
    input: 'Hello there.',
  });
  t.ok(Number(spoken.headers.get('x-usage-cost')) > 0, 'the price of the fallback');
  t.ok((await spoken.arrayBuffer()).byteLength > 1000);
  await billedTo(t, 'speech', /^0\.0/);
});

t.test('transcription', async (t) => {
  const file = await toFile(wave(Buffer.alloc(48_000)), 'a.wav');
  const heard = await client.audio.transcriptions.create({ model: 'dead/transcribe', file });
  t.match(heard, { usage: { seconds: 1, cost: 0.0001 } });
  await billedTo(t, 'transcribe', /^0\.0001$/);
});

t.test('chat with retrieval: the question is embedded once', async (t) => {
  const { create, add, settled } = callsOf(site.gateway.url, site.gateway.key);
  const { id } = await create({ name: 'shelf', embedding_model: 'sluice/embed' });
  const file = new File(['The moon is far.'], 'moon.txt', { type: 'text/plain' });
  t.equal((await settled(id, (await add(id, file)).body.id)).status, 'completed');
  // The file's own embedding is billed too.
  requests++;
  await site.billed(requests);
  site.well.script = answer('Far');
  const messages = [{ role: 'user', content: 'How far is the moon?' }];
  const response = await site.post('/chat/completions/RAG', {
    model: 'test/asked',
    collection: id,
    messages,
  });
  t.match(await response.json(), {
    model: 'test/other',
    choices: [{ message: { content: 'Far' } }],
    context: [{}],
  });
  t.match(site.well.requests.at(-1)?.body, /The moon is far/, 'the fallback reads what was found');
  const all = await site.billed(requests + 2);
  t.strictSame(
    all.slice(requests).map(({ model }) => model),
    ['sluice/embed', 'test/other'],
  );
});
