/** Tests that every billed route refuses what could exceed a budget, in its own shape, and calls no engine. */
import t from 'tap';
import { dataUri, picture, wav } from '../videos/media-samples.ts';
import { startBudgetGateway } from './client.ts';

const { gateway, limited, known, post } = await startBudgetGateway();
t.teardown(() => gateway.stop());

const total = await limited({ amount: '0.000000001', period: 'total' });
const daily = await limited({ amount: '0.000000001', period: 'day', time_zone: 'Asia/Tokyo' });
await known();
const { body: store } = await post(gateway.key, '/vector_store', {});
const { id: collection } = store as { id: string };

const ask = '/sim tokens=2\nHello';
const messages = [{ role: 'user', content: ask }];
const input_audio = { data: wav(1).toString('base64'), format: 'wav' };
const reference = { type: 'image_url', image_url: { url: dataUri(await picture('png')) } };

const calls: readonly (readonly [path: string, body: object])[] = [
  ['/chat/completions', { model: 'sluice/chat', messages }],
  ['/chat/completions', { model: 'sluice/chat', messages, stream: true }],
  ['/chat/completions/RAG', { model: 'sluice/chat', messages, collection }],
  ['/completions', { model: 'sluice/chat', prompt: ask }],
  ['/responses', { model: 'sluice/chat', input: ask }],
  ['/responses', { model: 'sluice/chat', input: ask, stream: true }],
  ['/embeddings', { model: 'sluice/embed', input: 'Hello' }],
  ['/rerank', { model: 'sluice/rerank', query: 'Hello', documents: ['a', 'b'] }],
  [
    '/systemone',
    { model: 'sluice/decide', state: 'x', questions: { a: { type: 'noul', instructions: 'Is it?' } } },
  ],
  ['/images', { model: 'sluice/image-edit', prompt: 'A lock', input_references: [reference] }],
  ['/audio/speech', { model: 'sluice/speech', input: 'Hello' }],
  ['/audio/transcriptions', { model: 'sluice/transcribe', input_audio }],
  ['/videos', { model: 'sluice/video', prompt: '/sim render=60s' }],
  ['/music', { model: 'sluice/music', prompt: '/sim render=60s' }],
  [`/vector_store/${collection}/search`, { input: 'Hello' }],
];

const messageOf = (id: string): RegExp =>
  new RegExp(
    `^This request could cost [0-9.]+ USD, more than the budget ${id} of 0\\.000000001 USD (in all|a day)$`,
  );

t.test('in the error envelope', async (t) => {
  for (const [path, body] of calls) {
    const refused = await post(total.secret, path, body);
    const { error } = refused.body as { error: { message: string } };
    t.match(error?.message, messageOf(total.budget), `${path}: ${JSON.stringify(refused.body)}`);
    t.strictSame(
      refused,
      {
        status: 429,
        retryAfter: null,
        shouldRetry: 'false',
        body: {
          error: {
            code: 429,
            message: error?.message,
            type: 'rate_limit_error',
            param: null,
            metadata: {
              error_type: 'rate_limit_exceeded',
              budget: {
                id: total.budget,
                period: 'total',
                limit: '0.000000001',
                remaining: '0.000000001',
                resets_at: null,
              },
            },
          },
        },
      },
      path,
    );
  }
});

t.test('in the messages format', async (t) => {
  const refused = await post(total.secret, '/messages', { model: 'sluice/chat', max_tokens: 5, messages });
  const { error, request_id } = refused.body as { error: { message: string }; request_id: string };
  t.match(error?.message, messageOf(total.budget));
  t.strictSame(refused, {
    status: 429,
    retryAfter: null,
    shouldRetry: 'false',
    body: {
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message: error?.message,
        details: {
          budget: {
            id: total.budget,
            period: 'total',
            limit: '0.000000001',
            remaining: '0.000000001',
            resets_at: null,
          },
        },
      },
      request_id,
    },
  });
});

t.test('what a whole period is too small for is not worth a retry either', async (t) => {
  const refused = await post(daily.secret, '/embeddings', { model: 'sluice/embed', input: 'Hello' });
  t.match(refused, { status: 429, retryAfter: null, shouldRetry: 'false' });
});

t.test('what costs nothing is not refused', async (t) => {
  t.match(await post(total.secret, '/messages/count_tokens', { model: 'sluice/chat', messages }), {
    status: 200,
  });
  t.match(await post(total.secret, '/tokenize', { model: 'sluice/chat', prompt: 'Hello' }), { status: 200 });
});

t.test('nothing was billed, and no job was made', async (t) => {
  const get = async (path: string) => {
    const response = await fetch(`${gateway.url}${path}`, {
      headers: { authorization: `Bearer ${total.secret}` },
    });
    return response.json();
  };
  t.match(await get('/videos'), { data: [] });
  t.match(await get('/music'), { data: [] });
  const used = (await get('/usage?group_by=key')) as { data: { key: string }[] };
  t.strictSame(
    used.data.filter(({ key }) => key === total.id),
    [],
  );
  t.strictSame(
    gateway.logLines.filter(({ msg }) => msg === 'call used more than was reserved'),
    [],
  );
});
