/** The rows of the routes benchmark: every other route with its request and expected status. */
import type { Route, Step } from '../load/route.ts';
import { form, json, picture, question, type Sent, song, video } from './bodies.ts';
import type { Prepared } from './prepare.ts';

export interface RouteRow extends Route {
  readonly name: string;
  readonly clients: number;
}

/** Concurrent requests; for slow routes, more would only be queued. */
const many = 16;
const few = 4;

type Change = Partial<Pick<Step, 'expected' | 'until' | 'withoutKey'>> & {
  readonly sent?: Sent;
  /** Values of the names in braces, in their order. */
  readonly fill?: readonly string[];
  readonly query?: string;
};

const step = (method: string, route: string, change: Change = {}): Step => {
  const { sent, fill = [], query = '', expected = 200, ...rest } = change;
  const values = [...fill];
  return {
    method,
    route,
    path: route.replaceAll(/\{[^}]+\}/g, (name) => values.shift() ?? name) + query,
    expected,
    ...sent,
    ...rest,
  };
};

const one = (method: string, route: string, change: Change & { note?: string; clients?: number } = {}) => {
  const { note, clients = many, ...rest } = change;
  const name = note === undefined ? `${method} ${route}` : `${method} ${route}, ${note}`;
  return { name, clients, steps: [step(method, route, rest)] };
};
const get = (route: string, change?: Parameters<typeof one>[2]): RouteRow => one('GET', route, change);
const post = (route: string, sent: Sent | undefined, change?: Parameters<typeof one>[2]): RouteRow =>
  one('POST', route, sent === undefined ? change : { ...change, sent });

const messages = [{ role: 'user', content: question }];
const chat = { model: 'near/chat', messages, max_tokens: 2048 };
const found = ['{found}'];

const conversations = ({ store }: Prepared): RouteRow[] => [
  post('/chat/completions', json(chat), { note: 'not streamed, baseline' }),
  post('/chat/completions/RAG', json({ ...chat, collection: store }), { note: 'not streamed' }),
  post('/chat/completions/RAG', json({ ...chat, collection: store, stream: true }), { note: 'streamed' }),
  post('/completions', json({ model: 'near/chat', prompt: question }), { note: 'not streamed' }),
  post('/messages', json(chat), { note: 'not streamed' }),
  post('/messages/count_tokens', json(chat)),
  post('/responses', json({ model: 'near/chat', input: question }), { note: 'not streamed' }),
  post('/embeddings', json({ model: 'near/embed', input: 'The water rises.' }), { note: 'one text' }),
  post('/rerank', json({ model: 'near/rerank', query: 'water', documents: ['The water rises.', 'A gate.'] })),
  post('/tokenize', json({ model: 'near/chat', prompt: question })),
  post('/detokenize', json({ model: 'near/chat', tokens: [791, 5409, 374, 2539] })),
  post(
    '/systemone',
    json({
      model: 'near/decide',
      state: 'The lock is full.',
      questions: { open: { type: 'noul', instructions: 'Is the lock full?' } },
    }),
  ),
];

const resumed = ['stream_{found}'];
const streams: readonly RouteRow[] = [
  {
    name: 'a resumable stream: POST /chat/completions, GET /streams/{id}, DELETE',
    clients: many,
    finds: '"id":"chatcmpl-([^"]+)"',
    steps: [
      step('POST', '/chat/completions', {
        sent: json({ ...chat, stream: true, stream_options: { resumable: true } }),
      }),
      step('GET', '/streams/{id}', { fill: resumed }),
      step('DELETE', '/streams/{id}', { fill: resumed, expected: 204 }),
    ],
  },
  {
    name: 'a response in the background: POST /responses, GET, cancel, DELETE',
    clients: many,
    steps: [
      step('POST', '/responses', { sent: json({ model: 'near/chat', input: question, background: true }) }),
      step('GET', '/responses/{id}', { fill: found }),
      step('POST', '/responses/{id}/cancel', { fill: found }),
      step('DELETE', '/responses/{id}', { fill: found }),
    ],
  },
];

const media = ({ link, recording }: Prepared): RouteRow[] => [
  post('/images', picture('near/image', 'b64_json'), { note: 'base64', clients: few }),
  post('/images/generations', picture('near/image', 'b64_json'), { note: 'base64', clients: few }),
  post('/images/generations', picture('near/image', 'url'), { note: 'link', clients: few }),
  post('/images/edits', picture('near/edit', 'b64_json', true), { note: 'base64', clients: few }),
  get('/blobs/{name}', { fill: [link.slice('/blobs/'.length)] }),
  post('/audio/speech', json({ model: 'near/speech', input: 'Open.' }), {
    note: 'not streamed, MP3',
    clients: few,
  }),
  post(
    '/audio/speech',
    json({ model: 'near/speech', input: 'Open.', response_format: 'pcm', stream_format: 'sse' }),
    { note: 'streamed', clients: few },
  ),
  post('/audio/transcriptions', form({ model: 'near/transcribe' }, 'a.wav', recording), { clients: few }),
  get('/audio/voices', { query: '?model=near/speech' }),
];

const jobRows = (route: string, clients: number, steps: readonly Step[], id: string): RouteRow[] => [
  {
    name: `a job of ${route}: ${steps.map(({ method, route: of }) => `${method} ${of.slice(route.length)}`.trim()).join(', ')}`,
    clients,
    steps,
  },
  get(route, { query: '?limit=20', note: 'list of 20' }),
  get(`${route}/models`),
  get(`${route}/{id}`, { fill: [id], note: 'done' }),
  get(`${route}/{id}/content`, { fill: [id] }),
];

const completed = '"status":"completed"';
const jobs = (prepared: Prepared): RouteRow[] => [
  ...jobRows(
    '/videos',
    few,
    [
      step('POST', '/videos', { sent: video, expected: 202 }),
      step('GET', '/videos/{id}', { fill: found, until: completed }),
      step('GET', '/videos/{id}/content', { fill: found }),
      step('DELETE', '/videos/{id}', { fill: found }),
    ],
    prepared.video,
  ),
  ...jobRows(
    '/music',
    many,
    [
      step('POST', '/music', { sent: song, expected: 202 }),
      step('GET', '/music/{id}/stream', { fill: found }),
      step('GET', '/music/{id}', { fill: found, until: completed }),
      step('GET', '/music/{id}/content', { fill: found }),
      step('DELETE', '/music/{id}', { fill: found }),
    ],
    prepared.song,
  ),
  get('/music/{id}/stream', { fill: [prepared.song], note: 'done' }),
];

const upload = (store: string): Step =>
  step('POST', '/vector_store/{id}/files', {
    fill: [store],
    sent: form({}, 'a.txt', 'The water rises in the lock.\n\nThe gate opens.'),
    expected: 201,
  });

const stores = ({ store, uploads, file, item }: Prepared): RouteRow[] => [
  post('/vector_store/{id}/search', json({ input: 'gates' }), { fill: [store] }),
  post('/vector_stores/{id}/search', json({ query: 'gates' }), { fill: [store] }),
  {
    name: 'a store: POST /vector_store, GET, DELETE',
    clients: many,
    steps: [
      step('POST', '/vector_store', { sent: json({ name: 'short' }), expected: 201 }),
      step('GET', '/vector_store/{id}', { fill: found }),
      step('DELETE', '/vector_store/{id}', { fill: found }),
    ],
  },
  {
    name: 'a file: POST /vector_store/{id}/files, DELETE',
    clients: many,
    steps: [
      upload(uploads),
      step('DELETE', '/vector_store/{id}/files/{fileid}', { fill: [uploads, ...found] }),
    ],
  },
  {
    name: 'an item: POST /vector_store/{id}/files, DELETE of the item',
    clients: many,
    finds: '"item_ids":\\["([^"]+)"',
    steps: [
      upload(uploads),
      step('DELETE', '/vector_store/{id}/items/{itemid}', { fill: [uploads, ...found], expected: 204 }),
    ],
  },
  get('/vector_store', { note: 'list' }),
  get('/vector_store/{id}', { fill: [store] }),
  get('/vector_store/{id}/files', { fill: [store], note: 'list' }),
  get('/vector_store/{id}/files/{fileid}', { fill: [store, file] }),
  get('/vector_store/{id}/items', { fill: [store], note: 'list' }),
  get('/vector_store/{id}/items/{itemid}', { fill: [store, item] }),
  one('PATCH', '/vector_store/{id}/items/{itemid}', {
    fill: [store, item],
    sent: json({ description: 'For sailors' }),
    expected: 202,
    clients: few,
  }),
];

const hour = 3600;

const service = (): RouteRow[] => [
  get('/usage', { note: 'this month by model', query: '?group_by=model' }),
  get('/usage', { note: 'the last 100 requests', query: '?group_by=request&limit=100' }),
  // Not whole days, whose totals are stored: this sums the events themselves.
  get('/usage', {
    note: 'the last hour by model',
    query: `?group_by=model&from=${Math.floor(Date.now() / 1000) - hour}`,
    clients: few,
  }),
  get('/models'),
  get('/models/{id}', { fill: ['near/chat'] }),
  get('/models/count'),
  get('/model/{author}/{slug}', { fill: ['near', 'chat'] }),
  get('/embeddings/models'),
  get('/images/models'),
  get('/images/models/{author}/{slug}/endpoints', { fill: ['near', 'image'] }),
  get('/webhooks/secret'),
  post('/webhooks/secret/rotate', undefined),
  get('/health'),
  get('/openapi.json'),
];

const refusals: readonly RouteRow[] = [
  post('/chat/completions', json(chat), { note: '401: no key', withoutKey: true, expected: 401 }),
  post('/chat/completions', json({ messages: [{ role: 'wizard', content: 'Hello' }] }), {
    note: '400: a bad field',
    expected: 400,
  }),
  post('/chat/completions', json({ ...chat, model: 'near/none' }), { note: '404: no model', expected: 404 }),
  get('/nothing', { note: '404: no route', expected: 404 }),
];

/** Jobs come last, so that their files and records do not affect the other rows. */
export const routeRows = (prepared: Prepared): readonly RouteRow[] => [
  ...service(),
  ...refusals,
  ...conversations(prepared),
  ...streams,
  ...stores(prepared),
  ...media(prepared),
  ...jobs(prepared),
];
