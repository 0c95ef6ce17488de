/** Requests that outlive the drain of a stopping gateway: what the client got as an error is failed and free. */
import { concat, NEVER, type Observable, of, tap } from 'rxjs';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { toJsonText } from '../../src/ports/engines/chat.ts';
import { tone } from '../audio/sounds.ts';
import { envelope } from '../envelope.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';

const message = 'The server is shutting down';

/** Begins with what clients get at once, and never ends. */
const begun: Readonly<Record<string, Observable<unknown>>> = {
  chat: concat(of([{ type: 'text', choice: 0, text: toJsonText('Hello') }]), NEVER),
  complete: concat(of([{ type: 'text', choice: 0, text: toJsonText('Hello') }]), NEVER),
  speak: concat(of({ samples: Buffer.alloc(96_000) }), NEVER),
  transcribe: concat(of({ text: 'Hello' }), NEVER),
  embed: NEVER,
  decide: NEVER,
  rerank: NEVER,
  image: NEVER,
};

/** A gateway whose engines never end an answer; `sent` sends, and resolves when its engine call has begun. */
const endlessGateway = async () => {
  const gateway = await startGateway({ env: { SLUICE_DRAIN_SECONDS: '0' } });
  const events: UsageEvent[] = [];
  const { usage, engines } = gateway.ports;
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  let calls = 0;
  const operations = Object.entries(begun).map(([name, parts]) => [
    name,
    () => parts.pipe(tap({ subscribe: () => calls++ })),
  ]);
  engines.of = () => Object.fromEntries(operations);
  const send = async (
    path: string,
    body: object | FormData,
  ): Promise<{ readonly response: Promise<Response> }> => {
    const isForm = body instanceof FormData;
    const before = calls;
    const response = fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
    });
    response.catch(() => undefined);
    await eventually(() => calls > before, `${path} has called its engine`);
    return { response };
  };
  return { gateway, events, send };
};

const messages = [{ role: 'user', content: 'Hi' }];
const prompt = { model: 'sluice/image', prompt: 'A gate' };
const question = { type: 'noul', instructions: 'Is it?' };
const speech = { model: 'sluice/speech', input: 'Open.' };

t.test('whole answers are a 503, failed and free', async (t) => {
  const { gateway, events, send } = await endlessGateway();
  const created = await fetch(`${gateway.url}/vector_store`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'guides' }),
  });
  const store = (await created.json()) as { readonly id: string };
  const recording = new FormData();
  recording.set('model', 'sluice/transcribe');
  recording.set('file', new Blob([new Uint8Array(await tone(1))]), 'a.wav');
  const rows: readonly (readonly [path: string, body: object | FormData, route?: string])[] = [
    ['/chat/completions', { model: 'sluice/chat', messages }],
    ['/completions', { model: 'sluice/chat', prompt: 'Once' }],
    ['/messages', { model: 'sluice/chat', messages, max_tokens: 100 }],
    ['/responses', { model: 'sluice/chat', input: 'Hi' }],
    ['/embeddings', { model: 'sluice/embed', input: 'Water' }],
    ['/rerank', { model: 'sluice/rerank', query: 'water', documents: ['A gate.'] }],
    ['/systemone', { model: 'sluice/decide', state: 'Full', questions: { open: question } }],
    ['/images/generations', prompt],
    ['/images', { ...prompt, stream: true, response_format: 'b64_json' }],
    ['/audio/speech', speech],
    ['/audio/transcriptions', recording],
    [`/vector_store/${store.id}/search`, { input: 'water' }, '/vector_store/{id}/search'],
  ];
  const responses: Promise<Response>[] = [];
  for (const [path, body] of rows) responses.push((await send(path, body)).response);
  await gateway.stop();
  for (const [index, [path]] of rows.entries()) {
    const response = await responses[index];
    t.equal(response?.status, 503, path);
    const body: unknown = await response?.json();
    if (path === '/messages') t.match(body, { type: 'error', error: { type: 'api_error', message } });
    else t.match(body, envelope(503, message, 'server_error', 'provider_overloaded'), path);
  }
  const seen = events.map(({ route, outcome, status, cost }) => ({ route, outcome, status, cost }));
  const wanted = rows.map(([path, , route = path]) => ({ route, outcome: 'failed', status: 503, cost: '0' }));
  const byRoute = (one: { route: string }, other: { route: string }) => (one.route < other.route ? -1 : 1);
  t.strictSame(seen.toSorted(byRoute), wanted.toSorted(byRoute));
});

t.test('streams end with the error of their format, failed and free', async (t) => {
  const { gateway, events, send } = await endlessGateway();
  const recording = new FormData();
  recording.set('model', 'sluice/transcribe');
  recording.set('stream', 'true');
  recording.set('file', new Blob([new Uint8Array(await tone(1))]), 'a.wav');
  const stream = true;
  const error = { code: 503, message };
  const rows: readonly (readonly [path: string, body: object | FormData, last: object])[] = [
    ['/chat/completions', { model: 'sluice/chat', messages, stream }, { error }],
    ['/completions', { model: 'sluice/chat', prompt: 'Once', stream }, { error }],
    ['/messages', { model: 'sluice/chat', messages, max_tokens: 100, stream }, { type: 'message_stop' }],
    ['/responses', { model: 'sluice/chat', input: 'Hi', stream }, { type: 'response.failed' }],
    [
      '/audio/speech',
      { ...speech, response_format: 'pcm', stream_format: 'sse' },
      { type: 'speech.audio.error', error },
    ],
    ['/audio/transcriptions', recording, { type: 'transcript.text.error', error }],
  ];
  const responses: Response[] = [];
  for (const [path, body] of rows) responses.push(await (await send(path, body)).response);
  // Raw samples leave no place for an error.
  const samples = await (await send('/audio/speech', { ...speech, response_format: 'pcm' })).response;
  await Promise.all([
    gateway.stop(),
    t.rejects(samples.arrayBuffer(), 'the connection is cut'),
    ...rows.map(async ([path, , last], index) => {
      const text = (await responses[index]?.text()) ?? '';
      const data = text.split('\n').filter((line) => line.startsWith('data: ') && !line.endsWith('[DONE]'));
      t.match(JSON.parse(data.at(-1)?.slice('data: '.length) ?? ''), last, path);
    }),
  ]);
  t.equal(events.length, rows.length + 1);
  for (const event of events) t.match(event, { outcome: 'failed', status: 503, cost: '0' }, event.route);
});

t.test('the simulator bills no answer that got a 503', async (t) => {
  const gateway = await startGateway({ env: { SLUICE_DRAIN_SECONDS: '0' } });
  const events: UsageEvent[] = [];
  const { usage } = gateway.ports;
  const record = usage.record.bind(usage);
  usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  const response = fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sluice/chat',
      messages: [{ role: 'user', content: '/sim tokens=1000 rate=50/s\nGo' }],
    }),
  });
  await new Promise((resolve) => setTimeout(resolve, 700));
  await gateway.stop();
  t.equal((await response).status, 503);
  t.match(events, [{ outcome: 'failed', status: 503, cost: '0', delivered_tokens: 0 }]);
});
