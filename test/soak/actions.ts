/** Client actions of a soak run: requests to all routes, some with faults or disconnects. */
import type { Random } from '../../src/simulator/random.ts';
import { bodySamples, pngUri, wav } from '../fuzz/samples.ts';

export interface Client {
  readonly url: string;
  readonly key: string;
  readonly random: Random;
}

export type Action = (client: Client, signal: AbortSignal) => Promise<void>;

const faults: readonly [string, ...string[]] = [
  '',
  '',
  '',
  ' fail=503@0',
  ' fail=502@3',
  ' drop@3',
  ' stall=300ms@2',
  ' end@2',
];

const call = async (
  { url, key }: Client,
  signal: AbortSignal,
  method: string,
  path: string,
  body?: object | FormData,
): Promise<string> => {
  const isForm = body instanceof FormData;
  const response = await fetch(url + path, {
    method,
    signal,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  return response.text();
};

const idIn = (text: string): string | undefined => /"id":"([\w-]+)"/.exec(text)?.[1];

const talk =
  (path: string, shape: (words: string, stream: boolean) => object): Action =>
  async (client, signal) => {
    const { random } = client;
    const words = `/sim tokens=${random.integer(1, 80)} rate=${random.pick(['max', '200/s'])}${random.pick(faults)}\nHello`;
    await call(client, signal, 'POST', path, shape(words, random.fraction() < 0.7));
  };

const said = (content: unknown) => [{ role: 'user', content }];
const fixed =
  (path: string, body: object): Action =>
  async (client, signal) => {
    await call(client, signal, 'POST', path, body);
  };

/** Made, used and deleted again; what a client leaves behind half way is swept up at the end of the run. */
const vectorStore: Action = async (client, signal) => {
  const store = idIn(await call(client, signal, 'POST', '/vector_store', { name: 'soak' }));
  const form = new FormData();
  form.set('file', new Blob(['The water rises. '.repeat(client.random.integer(1, 400))]), 'lock.txt');
  await call(client, signal, 'POST', `/vector_store/${store}/files`, form);
  await call(client, signal, 'POST', `/vector_store/${store}/search`, { input: 'water' });
  await call(client, signal, 'DELETE', `/vector_store/${store}`);
};

const job =
  (path: '/videos' | '/music', body: object): Action =>
  async (client, signal) => {
    const prompt = `/sim render=${client.random.integer(0, 2000)}ms\nWater`;
    const id = idIn(await call(client, signal, 'POST', path, { ...body, prompt }));
    if (path === '/music' && client.random.fraction() < 0.5)
      await call(client, signal, 'GET', `${path}/${id}/stream`);
    await call(client, signal, 'DELETE', `${path}/${id}`);
  };

const upload: Action = async (client, signal) => {
  const form = new FormData();
  form.set('model', 'sluice/transcribe');
  form.set('file', new Blob([new Uint8Array(wav)]), 'a.wav');
  await call(client, signal, 'POST', '/audio/transcriptions', form);
};

const nonsense: Action = async (client, signal) => {
  const bodies = [{ model: 7 }, { messages: [] }, { input: null }, [], { prompt: 'x'.repeat(5000) }] as const;
  const body = bodies[client.random.integer(0, bodies.length - 1)] ?? {};
  const path = client.random.pick(['/chat/completions', '/messages', '/images', '/videos', '/nothing']);
  await call(client, signal, 'POST', path, body);
};

const chat = talk('/chat/completions', (words, stream) => ({
  model: 'sluice/chat',
  stream,
  messages: said(words),
}));
const messages = talk('/messages', (words, stream) => ({
  model: 'sluice/chat',
  max_tokens: 100,
  stream,
  messages: said(words),
}));
const responses = talk('/responses', (words, stream) => ({ model: 'sluice/reasoner', stream, input: words }));
const times = (count: number, action: Action): Action[] => Array.from({ length: count }, () => action);

/** Repeated entries are picked more often. */
export const actions: readonly [Action, ...Action[]] = [
  chat,
  ...times(7, chat),
  ...times(4, messages),
  ...times(3, responses),
  fixed('/chat/completions', {
    model: 'sluice/vision',
    max_tokens: 5,
    messages: said([{ type: 'image_url', image_url: { url: pngUri } }]),
  }),
  fixed('/embeddings', bodySamples.postEmbeddings ?? {}),
  fixed('/systemone', bodySamples.postSystemone ?? {}),
  fixed('/images', { ...bodySamples.postImages, response_format: 'b64_json' }),
  fixed('/audio/speech', bodySamples.postAudioSpeech ?? {}),
  upload,
  ...times(2, vectorStore),
  job('/videos', { model: 'sluice/video', duration: 4 }),
  job('/music', { model: 'sluice/music', duration: 5 }),
  ...times(2, nonsense),
];

/** Deletes all that is left of jobs and stores. */
export const sweep = async (client: Client): Promise<void> => {
  const signal = AbortSignal.timeout(120_000);
  for (const path of ['/videos', '/music', '/vector_store'])
    for (let page = 0; page < 1000; page++) {
      const { data } = JSON.parse(await call(client, signal, 'GET', `${path}?limit=100`)) as {
        data: { id: string }[];
      };
      if (data.length === 0) break;
      // A job that runs is cancelled first, and gone with the second.
      for (const { id } of data) await call(client, signal, 'DELETE', `${path}/${id}`);
    }
};
