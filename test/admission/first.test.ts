/** Tests that a request is admitted before anything costly is done for it, on every route that names a model. */
import { Observable } from 'rxjs';
import t from 'tap';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { startPosting } from '../embeddings/posting.ts';
import { eventually } from '../eventually.ts';
import { dataUri, picture, wav } from '../videos/media-samples.ts';

interface Case {
  readonly path: string;
  /** The row of the default catalog that its model is a copy of. */
  readonly like: string;
  readonly window?: number;
  readonly body: object;
  /** Made before the engine call, or instead of it. */
  readonly work: readonly string[];
}

/** Long enough to be counted on a thread, and short enough for the window. */
const long = 'water '.repeat(1500);
const document = Buffer.from(long);
const file = { filename: 'a.txt', file_data: dataUri(document, 'text/plain') };
const input_audio = { data: wav(3).toString('base64'), format: 'wav' };
const image_url = { url: dataUri(await picture('png')) };
const ask = '/sim tokens=2\nHello';
const read = ['media.read', 'offload.documentText', 'offload.countTokens'];

const cases: readonly Case[] = [
  {
    path: '/chat/completions',
    like: 'sluice/vision',
    window: 4096,
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file },
            { type: 'image_url', image_url },
          ],
        },
        { role: 'user', content: ask },
      ],
    },
    work: [...read, 'media.read'],
  },
  {
    path: '/messages',
    like: 'sluice/chat',
    window: 4096,
    body: {
      max_tokens: 20,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'url', url: file.file_data } },
            { type: 'text', text: ask },
          ],
        },
      ],
    },
    work: read,
  },
  {
    path: '/messages/count_tokens',
    like: 'sluice/chat',
    body: {
      messages: [
        { role: 'user', content: [{ type: 'document', source: { type: 'url', url: file.file_data } }] },
      ],
    },
    work: read,
  },
  {
    path: '/responses',
    like: 'sluice/chat',
    window: 4096,
    body: {
      input: [
        { role: 'user', content: [{ type: 'input_file', ...file }] },
        { role: 'user', content: ask },
      ],
    },
    work: read,
  },
  {
    path: '/chat/completions/RAG',
    like: 'sluice/chat',
    window: 4096,
    body: {
      collection: '{store}',
      messages: [
        { role: 'user', content: [{ type: 'file', file }] },
        { role: 'user', content: `${ask} there, how high does the water rise in the lock today?` },
      ],
    },
    work: ['media.read', 'offload.documentText', 'offload.countTokens', 'offload.countTokens'],
  },
  {
    path: '/completions',
    like: 'sluice/chat',
    window: 4096,
    body: { prompt: `${ask}${long}` },
    work: ['offload.countTokens'],
  },
  {
    path: '/embeddings',
    like: 'sluice/embed',
    window: 512,
    body: { input: long },
    work: ['offload.cutTokens'],
  },
  {
    path: '/rerank',
    like: 'sluice/rerank',
    window: 512,
    body: { query: 'water', documents: [long, 'A gate.'] },
    work: ['offload.cutTokens'],
  },
  {
    path: '/systemone',
    like: 'sluice/decide',
    window: 4096,
    body: { state: long, questions: { a: { type: 'noul', instructions: 'Is it?' } } },
    work: ['offload.countTokens'],
  },
  {
    path: '/images/edits',
    like: 'sluice/image-edit',
    body: { prompt: 'A lock', size: '512x512', images: [{ image_url }] },
    work: ['media.read', 'pictures.verify'],
  },
  {
    path: '/audio/speech',
    like: 'sluice/speech',
    body: {
      input: 'Hi.',
      voice: 'clone',
      response_format: 'pcm',
      input_references: [{ type: 'input_audio', input_audio }],
    },
    work: ['media.decode', 'codec.probe'],
  },
  {
    path: '/audio/transcriptions',
    like: 'sluice/transcribe',
    body: { input_audio },
    work: ['media.decode', 'codec.probe'],
  },
  {
    path: '/videos',
    like: 'sluice/video',
    body: {
      prompt: '/sim render=60s',
      input_references: [
        { type: 'image_url', image_url },
        { type: 'audio_url', audio_url: { url: dataUri(wav(3), 'audio/wav') } },
      ],
    },
    work: ['media.read', 'pictures.verify', 'media.read', 'codec.probe', 'blobs.put', 'blobs.put'],
  },
  {
    path: '/vector_store/{store}/search',
    like: 'sluice/embed',
    window: 512,
    body: { input: long },
    work: ['offload.cutTokens'],
  },
];

const limits = { concurrency: 4, requests_per_minute: 1 };
const rowLike = (name: string) => {
  const like = defaultCatalog.models.find(({ id }) => id === name);
  if (like === undefined) throw new Error(`There is no ${name}`);
  const { kind, engine, tokenizer, context_length, input_modalities, voices, capabilities } = like;
  return { kind, engine, tokenizer, limits, context_length, input_modalities, voices, capabilities };
};
const modelOf = ({ path }: Case): string => `acme${path.replace(/\W+/g, '-').toLowerCase()}`;
const rows = Object.fromEntries([
  ...cases.map((one) => {
    const row = rowLike(one.like);
    return [modelOf(one), { ...row, context_length: one.window ?? row.context_length }] as const;
  }),
  ['acme/broken', rowLike('sluice/image-edit')] as const,
  ['acme/patient', rowLike('sluice/image-edit')] as const,
  ['acme/embed', { kind: 'embedding', engine: 'simulator', context_length: 8192 }] as const,
]);

interface Work {
  readonly call: string;
  readonly subscription: string;
  /** Requests that held a slot at that moment. */
  readonly running: number;
}

/** Reports every call of what is costly; `offload.parseJson` belongs to receiving a body. */
const watch = (ports: Ports, seen: Work[]): void => {
  const watched = <Port extends object>(name: string, port: Port, subscription: string): Port =>
    new Proxy(port, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function' || key === 'parseJson') return member;
        return (...given: unknown[]) => {
          seen.push({
            call: `${name}.${String(key)}`,
            subscription,
            running: ports.admission.stats().running,
          });
          return member.apply(target, given) as unknown;
        };
      },
    });
  for (const name of ['media', 'codec', 'pictures', 'offload'] as const) {
    const shared: { for(subscription: string): object } = ports[name];
    const own = shared.for.bind(shared);
    shared.for = (subscription) => watched(name, own(subscription), subscription);
  }
  const put = ports.blobs.put.bind(ports.blobs);
  ports.blobs.put = (...given) => {
    seen.push({ call: 'blobs.put', subscription: 'sub_default', running: ports.admission.stats().running });
    return put(...given);
  };
};

const { gateway, events, post } = await startPosting<{ readonly id: string }>({
  catalog: JSON.stringify({ models: rows }),
});
t.teardown(() => gateway.stop());
const seen: Work[] = [];
watch(gateway.ports, seen);
const idle = () => eventually(() => gateway.ports.admission.stats().running === 0, 'the slot');

const send = async (path: string, body: object) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
};

for (const one of cases)
  t.test(one.path, async (t) => {
    const model = modelOf(one);
    const embedding_model = one.like === 'sluice/embed' ? model : 'acme/embed';
    const { body: store } = await post('/vector_store', { embedding_model });
    const fill = (text: string): string => text.replaceAll('{store}', store.id);
    const path = fill(one.path);
    const body = JSON.parse(fill(JSON.stringify(one.body))) as object;
    seen.length = 0;
    const wrong = await send(path, {
      ...body,
      model,
      stream: 'yes',
      input: 5,
      prompt: 5,
      messages: 5,
      questions: 5,
      documents: 5,
      query: 5,
    });
    t.match(String(wrong.status), /^4(00|22)$/, 'a field at fault …');
    t.strictSame(seen, [], '… is found before anything is done');

    const first = await send(path, { model, ...body });
    t.match(
      String(first.status),
      /^20[02]$/,
      `… and takes no place in the window: ${first.text.slice(0, 300)}`,
    );
    t.strictSame(
      seen
        .slice(0, one.work.length)
        .map(({ call }) => call)
        .sort(),
      [...one.work].sort(),
    );
    t.strictSame(
      seen.filter(({ subscription, running }) => subscription !== 'sub_default' || running < 1),
      [],
      'a slot is held while the work is done, for its subscription',
    );
    await idle();

    seen.length = 0;
    const kept = events.length;
    const refused = await send(path, { model, ...body });
    t.equal(refused.status, 429, refused.text);
    t.strictSame(seen, [], 'what is over the limit costs nothing');
    t.equal(events.length, kept);
  });

t.test('what is found to be wrong under a slot is no usage, but a request', async (t) => {
  const kept = events.length;
  const damaged = (await picture('png')).subarray(0, 60);
  const ask = { model: 'acme/broken', prompt: 'A lock', images: [{ image_url: dataUri(damaged) }] };
  const refused = await send('/images/edits', ask);
  t.equal(refused.status, 400, refused.text);
  t.match(JSON.parse(refused.text), { error: { message: /^images\[0\]\.image_url / } });
  await idle();
  t.equal((await send('/images/edits', ask)).status, 429);
  t.equal(events.length, kept, 'neither is recorded');
});

t.test('a client that leaves while its request is prepared', async (t) => {
  const kept = events.length;
  const { media } = gateway.ports;
  const own = media.for;
  t.teardown(() => {
    media.for = own;
  });
  let aborted = false;
  media.for = (subscription) => ({
    ...own(subscription),
    read: () =>
      new Observable(() => () => {
        aborted = true;
      }),
  });
  const client = new AbortController();
  const body = { model: 'acme/patient', prompt: 'A lock', images: [{ image_url }] };
  const left = post('/images/edits', body, client.signal);
  await eventually(() => gateway.ports.admission.stats().running === 1, 'it is admitted');
  client.abort();
  await t.rejects(left);
  await idle();
  t.ok(aborted, 'what is loaded for it is aborted');
  t.equal(events.length, kept, 'nothing was made for it');
});
