/** Tests at the socket what clients read of errors besides their message: `param` and `x-should-retry`. */
import t from 'tap';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway();
t.teardown(() => gateway.stop());
const authorization = `Bearer ${gateway.key}`;

const send = (path: string, init: RequestInit = {}) =>
  fetch(gateway.url + path, { ...init, headers: { authorization, ...init.headers } });
const post = (path: string, body: unknown) =>
  send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const user = { role: 'user', content: 'Hi' };
const chat = (more: object) => ({ model: 'sluice/chat', messages: [user], ...more });
const tool = (change: object) => ({
  type: 'function',
  function: { name: 'look', parameters: { type: 'object' }, ...change },
});
const strict = { type: 'object', properties: { a: {} }, additionalProperties: false, required: [] };
const respond = (more: object) => ({ model: 'sluice/chat', input: 'Hi', ...more });
const store = ((await (await post('/vector_store', { name: 'x' })).json()) as { id: string }).id;

/** Requests with one fault each, and the field that is at fault; null: the message names none. */
const faults: readonly (readonly [path: string, body: unknown, param: string | null])[] = [
  // The schema.
  ['/chat/completions', chat({ model: 7 }), 'model'],
  ['/chat/completions', { model: 'sluice/chat' }, 'messages'],
  ['/chat/completions', chat({ messages: [] }), 'messages'],
  ['/chat/completions', chat({ messages: [user, user, { role: 'user' }] }), 'messages[2].content'],
  ['/chat/completions', chat({ messages: [{ role: 'nobody', content: '' }] }), 'messages[0].role'],
  ['/chat/completions', chat({ tools: [tool({ name: 7 })] }), 'tools[0].function.name'],
  ['/chat/completions', chat({ temperature: 3 }), 'temperature'],
  ['/chat/completions', chat({ stop: ['a', 7] }), 'stop[1]'],
  [
    '/systemone',
    { model: 'sluice/decide', state: 'x', questions: { 'a b': { type: 7 } } },
    'questions["a b"].type',
  ],
  // Checks of the pipelines.
  ['/chat/completions', chat({ stop: ['a', ''] }), 'stop[1]'],
  ['/chat/completions', chat({ top_logprobs: 2 }), 'top_logprobs'],
  ['/chat/completions', chat({ tool_choice: 'required' }), 'tool_choice'],
  [
    '/chat/completions',
    chat({ tools: [tool({ strict: true, parameters: strict })] }),
    'tools[0].function.parameters.required',
  ],
  [
    '/chat/completions',
    chat({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] }),
    'messages[0].content[0]',
  ],
  [
    '/chat/completions',
    chat({ messages: [{ role: 'user', content: '/sim nonsense' }] }),
    'messages[0].content',
  ],
  ['/responses', respond({ input: 7 }), 'input'],
  ['/responses', respond({ input: [] }), 'input'],
  ['/responses', respond({ previous_response_id: 'resp_1' }), 'previous_response_id'],
  ['/responses', respond({ background: 'yes' }), 'background'],
  ['/chat/completions/RAG', chat({ collection: 7 }), 'collection'],
  ['/embeddings', { model: 'sluice/embed', input: [] }, 'input'],
  ['/embeddings', { model: 'sluice/embed', input: ['a', ''] }, 'input[1]'],
  ['/embeddings', { model: 'sluice/embed', input: 'a', dimensions: 100_000 }, 'dimensions'],
  ['/systemone', { model: 'sluice/decide', state: 'x', questions: {} }, 'questions'],
  ['/images', { prompt: 'x', n: 11 }, 'n'],
  ['/images', { prompt: 'x', size: '1x1' }, 'size'],
  ['/images', { prompt: 'x', style: 'vivid' }, 'style'],
  ['/audio/speech', { model: 'sluice/speech', input: ' ' }, 'input'],
  ['/audio/speech', { model: 'sluice/speech', input: 'Hi', speed: 9 }, 'speed'],
  ['/audio/transcriptions', { model: 'sluice/transcribe' }, 'input_audio'],
  ['/videos', { model: 'sluice/video', prompt: 'x', duration: 99 }, 'duration'],
  ['/videos', { model: 'sluice/video', prompt: 'x', nonsense: 1 }, 'nonsense'],
  ['/music', { model: 'sluice/music', prompt: 'x', callback_url: 'http://127.0.0.1' }, 'callback_url'],
  [`/vector_store/${store}/search`, { input: '' }, 'input'],
  ['/vector_store/vs_none/search', { input: 'x' }, 'id'],
  // Of the whole body.
  ['/chat/completions', '[]', null],
  ['/chat/completions', '{', null],
  ['/chat/completions', '', null],
];

t.test('param is the field that the message names', async (t) => {
  for (const [path, body, param] of faults) {
    const response = await post(path, body);
    const { error } = (await response.json()) as { error: { message: string; param: string | null } };
    const what = `${path}: ${error.message}`;
    t.equal(error.param, param, what);
    t.ok([400, 422].includes(response.status), `status ${response.status}`);
    t.ok(param === null || error.message.startsWith(param), 'the message begins with it');
    t.equal(response.headers.get('x-should-retry'), 'false');
  }
  const order = await send('/videos?order=up');
  t.match(await order.json(), { error: { param: 'order' } });
  const messages = await post('/messages', { model: 'sluice/chat', max_tokens: 5, messages: [] });
  t.same(await messages.json(), {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'messages must have at least 1 item' },
    request_id: messages.headers.get('request-id'),
  });
});

t.test('an error of the engine is about no field of the request', async (t) => {
  const response = await post(
    '/chat/completions',
    chat({ messages: [{ role: 'user', content: '/sim fail=400' }] }),
  );
  t.match([response.status, await response.json()], [400, { error: { param: null } }]);
});

t.test('whether a retry can help', async (t) => {
  const key = { headers: { authorization: 'Bearer sk-wrong' } };
  const fail = (status: number) =>
    post('/chat/completions', chat({ messages: [{ role: 'user', content: `/sim fail=${status}` }] }));
  const rows: readonly (readonly [() => Promise<Response>, number, string | null])[] = [
    [() => send('/health', key), 401, 'false'],
    [() => fetch(`${gateway.url}/messages`, { method: 'POST' }), 401, 'false'],
    [() => send('/nothing'), 404, 'false'],
    [() => post('/chat/completions', chat({ model: 'no/such' })), 404, 'false'],
    [() => send('/chat/completions'), 405, 'false'],
    [() => post('/chat/completions', ' '.repeat(1024 * 1024) + '{'.repeat(300)), 400, 'false'],
    [() => post('/systemone', {}), 422, 'false'],
    [() => fail(503), 503, null],
    [() => fail(500), 500, null],
    [() => fail(504), 504, null],
    [() => send('/health'), 200, null],
  ];
  for (const [call, status, retry] of rows) {
    const response = await call();
    t.equal(response.status, status);
    t.equal(response.headers.get('x-should-retry'), retry, `${status} ${response.url}`);
    t.match(response.headers.get('access-control-expose-headers'), /\bx-should-retry\b/);
    await response.body?.cancel();
  }
});

t.test('a byte order mark before JSON', async (t) => {
  const body = JSON.stringify(chat({ max_tokens: 1 }));
  t.equal((await post('/chat/completions', `\ufeff${body}`)).status, 200);
  const padding = ' '.repeat(300 * 1024);
  t.equal((await post('/chat/completions', `\ufeff${padding}${body}`)).status, 200, 'parsed on a thread');
  const form = new FormData();
  form.set('file', new File(['Tides.'], 'a.txt', { type: 'text/plain' }));
  form.set('attributes', '\ufeff{"subject":"sea"}');
  const added = await send(`/vector_store/${store}/files`, { method: 'POST', body: form });
  t.match([added.status, await added.json()], [201, { attributes: { subject: 'sea' } }], 'in a form');
});
