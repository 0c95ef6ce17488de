/** Tests that no key, prompt, body or client address is logged, and no engine key returned. */
import t from 'tap';
import { startScriptedEngine } from '../engines/scripted-engine.ts';
import { pngUri, wav } from '../fuzz/samples.ts';
import { startGateway } from '../gateway.ts';

const canary = 'canary-7f3a91';
const engineKey = 'sk-engine-5e1d0a77c2b94f';
const clientKey = 'sk-client-0123456789abcdef0123456789abcdef';
const wrongKey = 'sk-wrong-fedcba9876543210';

/** An engine that answers with what it was sent, as some do when they fail. */
const engine = await startScriptedEngine((request) => {
  const status = Number(/status-(\d+)/.exec(request.body)?.[1] ?? 500);
  const sent = /authorization: (\S+ \S+)/i.exec(request.head)?.[1] ?? '';
  const words = `Incorrect API key provided: ${sent}; could not read "${request.body.replaceAll('"', '').slice(0, 120)}"`;
  request.json(status, { error: { message: words } });
});
t.teardown(() => engine.close());

process.env.SECURITY_TEST_ENGINE_KEY = engineKey;
const gateway = await startGateway({
  env: { LOG_LEVEL: 'trace', SLUICE_BOOTSTRAP_KEY: clientKey },
  catalog: `
engines:
  telltale: { wire: openai, replicas: ['${engine.url}'], key_env: SECURITY_TEST_ENGINE_KEY }
models:
  a/telltale: { kind: chat, engine: telltale, context_length: 8192 }
  a/chat: { kind: chat, engine: simulator, context_length: 8192, input_modalities: [text, image] }
  a/embed: { kind: embedding, engine: telltale, context_length: 512 }
`,
});
t.teardown(() => gateway.stop());

const answers: string[] = [];
const ask = async (path: string, init: RequestInit = {}, key = clientKey): Promise<number> => {
  const response = await fetch(gateway.url + path, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...init.headers },
  });
  answers.push(`${JSON.stringify([...response.headers])} ${await response.text()}`);
  return response.status;
};
const post = (path: string, body: object, key?: string): Promise<number> =>
  ask(
    path,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    key,
  );

const said = (text: string, more: object = {}): object => ({
  model: 'a/chat',
  max_tokens: 20,
  messages: [{ role: 'user', content: text }],
  ...more,
});

t.test('requests of every kind, served, refused and failed', async (t) => {
  for (const path of ['/chat/completions', '/messages']) {
    t.equal(await post(path, said(`/sim tokens=3\n${canary}`)), 200);
    t.equal(await post(path, said(`/sim tokens=3 fail=503\n${canary}`)), 503);
    await post(path, said(`/sim tokens=5 drop@2\n${canary}`, { stream: true }));
    t.equal(await post(path, said(canary, { temperature: canary })), 400);
    t.equal(await post(path, said(canary), wrongKey), 401);
    for (const status of [400, 401, 403, 404, 422, 500, 502, 503])
      t.ok((await post(path, said(`status-${status} ${canary}`, { model: 'a/telltale' }))) >= 400);
  }
  await post('/responses', { model: 'a/telltale', input: `status-500 ${canary}` });
  await post('/embeddings', { model: 'a/embed', input: `status-401 ${canary}` });
  await post('/embeddings', { model: canary, input: canary });
  await post('/vector_store', { name: canary, metadata: { note: canary }, embedding_model: 'a/embed' });
  await post('/videos', { model: canary, prompt: canary, callback_url: `https://127.0.0.1/${canary}` });
  await post('/images', { model: canary, prompt: canary, images: [{ image_url: pngUri }] });
  await post('/audio/speech', { model: canary, input: canary });
  await post('/audio/transcriptions', {
    model: canary,
    input_audio: { data: wav.toString('base64'), format: 'wav' },
  });
  const url = `https://nobody.invalid/${canary}?token=${canary}`;
  const picture = [{ type: 'image_url', image_url: { url } }];
  t.equal(
    await post('/chat/completions', { ...said(''), messages: [{ role: 'user', content: picture }] }),
    400,
  );
  await ask(`/models/${canary}?x=${canary}`);
  await ask(`/blobs/${canary}?expires=9999999999&signature=${canary}`);
  await ask(`/${canary}`, { method: 'PUT' });
  await ask('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"broken":"${canary}`,
  });
  const form = new FormData();
  form.set(canary, new Blob([canary]), `${canary}.txt`);
  await ask('/images/edits', { method: 'POST', body: form });
});

t.test('the log contains no secrets', async (t) => {
  t.ok(gateway.logLines.length > 40, `${gateway.logLines.length} lines`);
  for (const secret of [canary, clientKey, wrongKey, engineKey, 'iVBORw0KGgo', 'UklGR'])
    t.same(
      gateway.logLines.filter((line) => JSON.stringify(line).includes(secret)),
      [],
      secret,
    );
});

t.test('the responses contain no key', async (t) => {
  for (const secret of [engineKey, clientKey, wrongKey, gateway.folder, 'node_modules'])
    t.same(
      answers.filter((answer) => answer.includes(secret)),
      [],
      secret,
    );
});
