/** Tests hostile bodies on every route: inherited property names, depth, width and image bombs. */
import t from 'tap';
import { startFuzzGateway } from '../fuzz/gateway.ts';
import { bodySamples, png } from '../fuzz/samples.ts';
import { claiming } from '../images/drawing.ts';
import { someOf } from '../long.ts';

const gateway = await startFuzzGateway();
t.teardown(() => gateway.stop());

const ask = async (path: string, body: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, text: await response.text() };
};

const store = JSON.parse((await ask('/vector_store', '{"name":"hostile"}')).text).id as string;

const paths: Readonly<Record<string, string>> = {
  postChatCompletions: '/chat/completions',
  postChatCompletionsRAG: '/chat/completions/RAG',
  postMessages: '/messages',
  postMessagesCountTokens: '/messages/count_tokens',
  postResponses: '/responses',
  postEmbeddings: '/embeddings',
  postImages: '/images',
  postImagesGenerations: '/images/generations',
  postImagesEdits: '/images/edits',
  postSystemone: '/systemone',
  postVideos: '/videos',
  postMusic: '/music',
  postAudioSpeech: '/audio/speech',
  postAudioTranscriptions: '/audio/transcriptions',
  postVectorStore: '/vector_store',
  postVectorStoreByIdSearch: `/vector_store/${store}/search`,
  postVectorStoresByIdSearch: `/vector_stores/${store}/search`,
};
const bodies = Object.entries(paths).map(
  ([id, path]) => [path, JSON.stringify(bodySamples[id] ?? {}).replaceAll('{store}', store)] as const,
);

/** The names beside the first field of each object of the body, at every depth. */
const withNames = (body: string, names: string): string => body.replace(/\{(?=")/g, `{${names},`);

t.test('inherited property names are ordinary names', async (t) => {
  const names =
    '"__proto__":{"polluted":true,"model":"none"},"constructor":{"prototype":{"polluted":true}},"toString":1,"valueOf":2,"then":3';
  for (const [path, body] of someOf(bodies, 12)) {
    const plain = await ask(path, body);
    t.ok(plain.status < 300, `${path} ${plain.status}`);
    // At the top, where unknown fields are ignored or named, and at every depth.
    for (const hostile of [`{${names},${body.slice(1)}`, withNames(body, names)]) {
      const { status, text } = await ask(path, hostile);
      t.ok(status < 300 || [400, 404, 422].includes(status), `${path} ${status} ${text.slice(0, 200)}`);
    }
  }
  t.equal(Reflect.get({}, 'polluted'), undefined);
  t.equal(Reflect.get(Object, 'polluted'), undefined);
  t.equal(String({}), '[object Object]');
});

t.test('depth and width', async (t) => {
  for (const [path, body] of someOf(bodies, 8)) {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const deep = `${open.repeat(20_000)}1${close.repeat(20_000)}`;
      const { status, text } = await ask(path, `{"metadata":${deep},${body.slice(1)}`);
      t.ok(status === 400 || status === 422, `${path} ${status} ${text.slice(0, 100)}`);
    }
    const wide = Array.from({ length: 20_000 }, (_, at) => `"k${at}":${at}`).join(',');
    const { status } = await ask(path, `{${wide},${body.slice(1)}`);
    t.ok(status < 300 || status === 400 || status === 422, `${path} ${status}`);
  }
});

t.test('image bombs', async (t) => {
  const uri = `data:image/png;base64,${claiming(png, 60_000, 60_000).toString('base64')}`;
  const image = JSON.stringify({
    prompt: 'A lock',
    model: 'sluice/image-edit',
    images: [{ image_url: uri }],
  });
  t.match(await ask('/images/edits', image), { status: 400, text: /pixels|damaged/ });
  const frame = [{ type: 'image_url', image_url: { url: uri }, frame_type: 'first_frame' }];
  const video = { model: 'sluice/video', prompt: '/sim render=10m\nA lock', frame_images: frame };
  const answer = await ask('/videos', JSON.stringify(video));
  t.ok(answer.status === 400 || answer.status === 202, 'refused, or left to an engine that is not asked yet');
});

t.test('compressed bodies are not unpacked', async (t) => {
  const response = await fetch(`${gateway.url}/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: Buffer.from('1f8b0800000000000003', 'hex'),
  });
  t.equal(response.status, 400);
});

t.test('the gateway still serves', async (t) => {
  const { status } = await ask('/chat/completions', JSON.stringify(bodySamples.postChatCompletions));
  t.equal(status, 200);
  t.same(
    gateway.logLines.filter(({ level }) => level >= 50),
    [],
  );
});
