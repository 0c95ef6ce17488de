/** Tests the rate limit on every route except chat: one request runs, the next gets 429. */
import t from 'tap';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { envelope } from '../envelope.ts';
import { startGateway } from '../gateway.ts';
import { dataUri, picture, wav } from '../videos/media-samples.ts';

const limits = { concurrency: 4, requests_per_minute: 1 };
const rows = Object.fromEntries(
  defaultCatalog.models.map(({ id, kind, engine, context_length, voices, capabilities }) => [
    id,
    { kind, engine, limits, context_length, voices, capabilities },
  ]),
);
const gateway = await startGateway({ catalog: JSON.stringify({ models: rows }) });
t.teardown(() => gateway.stop());

const post = async (path: string, body: object) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as { readonly id: string },
  };
};

const { body: store } = await post('/vector_store', {});
const input_audio = { data: wav(1).toString('base64'), format: 'wav' };
/** An engine that fails at once: it was asked, and that is what counts. */
const prompt = '/sim fail=503@0';
const reference = { type: 'image_url', image_url: { url: dataUri(await picture('png')) } };

const uses: readonly (readonly [model: string, calls: readonly (readonly [path: string, body: object])[]])[] =
  [
    [
      'sluice/image-edit',
      ['/images', '/images/generations', '/images/edits'].map((path) => [
        path,
        { prompt, input_references: [reference] },
      ]),
    ],
    ['sluice/video', [['/videos', { prompt: '/sim render=60s' }]]],
    ['sluice/music', [['/music', { prompt: '/sim render=60s' }]]],
    ['sluice/speech', [['/audio/speech', { input: `${prompt}\nHello` }]]],
    ['sluice/transcribe', [['/audio/transcriptions', { prompt, input_audio }]]],
    [
      'sluice/embed',
      [
        ['/embeddings', { input: `${prompt}\nHello` }],
        [`/vector_store/${store.id}/search`, { input: 'Hello' }],
      ],
    ],
    [
      'sluice/decide',
      [['/systemone', { state: prompt, questions: { a: { type: 'noul', instructions: 'Is it?' } } }]],
    ],
  ];

for (const [model, calls] of uses)
  t.test(model, async (t) => {
    const [first] = calls;
    if (first === undefined) return;
    const begun = await post(first[0], { model, ...first[1] });
    t.ok([202, 503, 529].includes(begun.status), JSON.stringify(begun.body));
    const refused = envelope(
      429,
      `Rate limit reached for ${model}: 1 requests per minute`,
      'rate_limit_error',
      'rate_limit_exceeded',
    );
    for (const [path, body] of calls) {
      const said = await post(path, { model, ...body });
      t.same([said.status, said.body], [429, refused], path);
      t.match(said.retryAfter, /^([1-9]|[1-5]\d|60)$/, path);
    }
  });
