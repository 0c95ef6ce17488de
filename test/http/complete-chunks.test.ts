/** Tests on raw sockets that no part of any stream waits for the next part to complete its HTTP chunk. */
import t from 'tap';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { RawClient, request, settled } from './raw-client.ts';
import { servers } from './servers.ts';

/** Longer than it takes to see that nothing more comes. */
const pause = 'stall=3s@4 tokens=8';
const prompt = `/sim ${pause}\nHello`;
const messages = [{ role: 'user', content: prompt }];
/** Bytes of a part that may be in a chunk which is not complete. */
const mostOpen = { uws: { events: 0, bytes: 4 }, node: { events: 0, bytes: 0 } };

interface Row {
  readonly path: string;
  /** Where the path has an id in it. */
  readonly route?: string;
  readonly body?: object;
  readonly kind: 'events' | 'bytes';
}

/** A request to every streaming route that stops in the middle of its response. */
const rowsOf = async (gateway: TestGateway): Promise<readonly Row[]> => {
  const speech = { model: 'sluice/speech', input: `/sim stall=3s@1\n${'One sentence. '.repeat(4)}` };
  const audio = { data: await spoken(gateway), format: 'wav' };
  const { id: store } = await post<{ id: string }>(gateway, '/vector_store', { name: 'empty' });
  const { id: song } = await post<{ id: string }>(gateway, '/music', {
    model: 'sluice/music',
    prompt: '/sim render=60s',
    duration: 20,
  });
  const { id: response } = await post<{ id: string }>(gateway, '/responses', {
    model: 'sluice/chat',
    background: true,
    input: '/sim stall=20s@4 tokens=8\nHello',
  });
  const resumable = { resumable: true };
  return [
    { path: `/responses/${response}?stream=true`, route: '/responses/{id}', kind: 'events' },
    { path: `/streams/${response.replace('resp_', 'stream_')}`, route: '/streams/{id}', kind: 'events' },
    {
      path: '/chat/completions',
      body: { model: 'sluice/chat', stream: true, stream_options: resumable, messages },
      kind: 'events',
    },
    { path: '/chat/completions', body: { model: 'sluice/chat', stream: true, messages }, kind: 'events' },
    {
      path: '/messages',
      body: { model: 'sluice/chat', stream: true, max_tokens: 100, messages },
      kind: 'events',
    },
    { path: '/completions', body: { model: 'sluice/chat', stream: true, prompt }, kind: 'events' },
    { path: '/responses', body: { model: 'sluice/chat', stream: true, input: prompt }, kind: 'events' },
    {
      path: '/chat/completions/RAG',
      body: { model: 'sluice/chat', stream: true, collection: store, messages },
      kind: 'events',
    },
    {
      path: '/audio/speech',
      body: { ...speech, response_format: 'pcm', stream_format: 'sse' },
      kind: 'events',
    },
    { path: '/audio/speech', body: { ...speech, response_format: 'pcm' }, kind: 'bytes' },
    {
      path: '/audio/transcriptions',
      body: { model: 'sluice/transcribe', stream: true, input_audio: audio, prompt: '/sim stall=3s@2' },
      kind: 'events',
    },
    { path: `/music/${song}/stream`, kind: 'bytes' },
  ];
};

/** Their one event, and the comments before it, have nothing to wait for. */
const oneEvent = ['/images', '/images/generations', '/images/edits'];

const headersOf = ({ key }: TestGateway) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
});

const post = async <Body>(gateway: TestGateway, path: string, body: object): Promise<Body> => {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: headersOf(gateway),
    body: JSON.stringify(body),
  });
  return (await response.json()) as Body;
};

const spoken = async (gateway: TestGateway): Promise<string> => {
  const response = await fetch(`${gateway.url}/audio/speech`, {
    method: 'POST',
    headers: headersOf(gateway),
    body: JSON.stringify({
      model: 'sluice/speech',
      input: 'The quick brown fox jumps over the dog.',
      response_format: 'wav',
    }),
  });
  return Buffer.from(await response.arrayBuffer()).toString('base64');
};

const streamingRoutes = async (gateway: TestGateway): Promise<readonly string[]> => {
  const response = await fetch(`${gateway.url}/openapi.json`, { headers: headersOf(gateway) });
  const { paths } = (await response.json()) as { paths: Record<string, object> };
  return Object.keys(paths).filter((path) => JSON.stringify(paths[path]).includes('text/event-stream'));
};

for (const { name, skip } of servers)
  t.test(`chunks on ${name}`, { skip }, async (t) => {
    const gateway = await startGateway({ env: { SLUICE_EDGE: name } });
    t.teardown(() => gateway.stop());
    const rows = await rowsOf(gateway);
    const covered = new Set([...rows.map(({ path, route }) => route ?? path), ...oneEvent]);
    t.same(
      (await streamingRoutes(gateway)).filter((path) => !covered.has(path)),
      [],
      'every stream is here',
    );
    const check = async ({ path, body, kind }: Row): Promise<void> => {
      const what = `${path} ${kind}`;
      const client = await RawClient.connect(Number(new URL(gateway.url).port));
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      client.send(
        request(body === undefined ? 'GET' : 'POST', `/v1${path}`, { headers: headersOf(gateway), ...json }),
      );
      await eventually(() => client.streamed().length > 50, `a part of ${what}`);
      await settled(() => client.total);
      const [all, complete] = [client.streamed(), client.streamed('complete')];
      t.notMatch(client.text, '\r\n0\r\n', `${what}: there is more to come`);
      if (kind === 'events')
        t.match(complete, /^(?:id: 0\n)?(?:event|data): [\s\S]*\n\n$/, `${what}: whole events`);
      t.equal(all.length - complete.length, mostOpen[name][kind], `${what}: bytes of an open chunk`);
      if (kind === 'events') t.ok(client.text.endsWith('\n\n\r\n'), `${what}: the end of a chunk`);
      client.socket.destroy();
    };
    await Promise.all(rows.map(check));
  });
