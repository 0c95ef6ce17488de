/** Tests that one subscription cannot see or change another's records. */
import t from 'tap';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway({ env: { SLUICE_WORKERS: '2' } });
t.teardown(() => gateway.stop());
const management = createKeyManagement(gateway.ports.state);
const other = await management.createSubscription('another');
const { secret: intruder } = await management.createKey({ subscription: other.id });
const owner = gateway.key;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Of no two answers the same, and no business of this test. */
const volatile = new Set(['date', 'x-request-id', 'request-id']);

const ask = async (key: string, method: string, path: string, body?: object | FormData): Promise<Answer> => {
  const isForm = body instanceof FormData;
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !volatile.has(name)));
  return { status: response.status, headers, body: await response.text() };
};

const make = async (path: string, body: object | FormData): Promise<{ id: string }> => {
  const answer = await ask(owner, 'POST', path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.body}`);
  return JSON.parse(answer.body);
};

const upload = (): FormData => {
  const form = new FormData();
  form.set('file', new Blob(['The code of the lock is 4711.'], { type: 'text/plain' }), 'lock.txt');
  return form;
};

const store = (await make('/vector_store', { name: 'owned' })).id;
const file = (await make(`/vector_store/${store}/files`, upload())).id;
const item = JSON.parse((await ask(owner, 'GET', `/vector_store/${store}/items`)).body).data[0].id as string;
const video = (await make('/videos', { model: 'sluice/video', prompt: '/sim render=10m\nA lock' })).id;
const song = (await make('/music', { model: 'sluice/music', prompt: '/sim render=10m\nA lock' })).id;

const response = (
  await make('/responses', {
    model: 'sluice/chat',
    input: '/sim tokens=100000 rate=1\nA lock',
    background: true,
  })
).id;
const stream = response.replace('resp_', 'stream_');

/** Ids of the same form that do not exist. */
const nobody = (id: string): string =>
  id.replace(/(?<=[_-].*)[0-9a-f]/g, (digit) => (digit === '0' ? '1' : '0'));

const words = { model: 'sluice/chat', messages: [{ role: 'user', content: 'the code?' }] };
const attempts: readonly (readonly [
  method: string,
  path: string,
  ids: readonly string[],
  body?: () => object,
])[] = [
  ['GET', `/videos/${video}`, [video]],
  ['DELETE', `/videos/${video}`, [video]],
  ['GET', `/videos/${video}/content`, [video]],
  ['GET', `/videos/${video}/content?index=0`, [video]],
  ['GET', `/videos?after=${video}`, [video]],
  ['GET', `/videos?before=${video}`, [video]],
  ['GET', `/streams/${stream}`, [stream]],
  ['DELETE', `/streams/${stream}`, [stream]],
  ['GET', `/responses/${response}`, [response]],
  ['GET', `/responses/${response}?stream=true&starting_after=0`, [response]],
  ['DELETE', `/responses/${response}`, [response]],
  ['POST', `/responses/${response}/cancel`, [response]],
  ['GET', `/music/${song}`, [song]],
  ['DELETE', `/music/${song}`, [song]],
  ['GET', `/music/${song}/content`, [song]],
  ['GET', `/music/${song}/stream`, [song]],
  ['GET', `/music?after=${song}`, [song]],
  ...['/vector_store', '/vector_stores'].flatMap((base) => [
    ['GET', `${base}/${store}`, [store]] as const,
    ['DELETE', `${base}/${store}`, [store]] as const,
    ['GET', `${base}/${store}/files`, [store]] as const,
    ['POST', `${base}/${store}/files`, [store], upload] as const,
    ['GET', `${base}/${store}/files/${file}`, [store, file]] as const,
    ['DELETE', `${base}/${store}/files/${file}`, [store, file]] as const,
    ['GET', `${base}?after=${store}`, [store]] as const,
  ]),
  ['POST', `/vector_store/${store}/search`, [store], () => ({ input: 'code' })],
  ['POST', `/vector_stores/${store}/search`, [store], () => ({ query: 'code' })],
  ['GET', `/vector_store/${store}/items`, [store]],
  ['GET', `/vector_store/${store}/items/${item}`, [store, item]],
  ['PATCH', `/vector_store/${store}/items/${item}`, [store, item], () => ({ description: 'mine' })],
  ['DELETE', `/vector_store/${store}/items/${item}`, [store, item]],
  ['POST', '/chat/completions/RAG', [store], () => ({ ...words, collection: store })],
];

const swapped = (text: string, ids: readonly string[]): string =>
  ids.reduce((changed, id) => changed.replaceAll(id, nobody(id)), text);

t.test('a record of another subscription is a 404', async (t) => {
  for (const [method, path, ids, body] of attempts) {
    const real = await ask(intruder, method, path, body?.());
    const given = body?.();
    const madeUp =
      given === undefined || given instanceof FormData
        ? given
        : JSON.parse(swapped(JSON.stringify(given), ids));
    const none = await ask(intruder, method, swapped(path, ids), madeUp);
    t.same({ ...real, body: swapped(real.body, ids) }, none, `${method} ${path}`);
    t.notMatch(real.body, /4711|A lock|owned/);
  }
});

t.test('a file or item of another store is not found through an own store', async (t) => {
  const mine = JSON.parse((await ask(intruder, 'POST', '/vector_store', { name: 'mine' })).body).id as string;
  for (const [method, path, body] of [
    ['GET', `/files/${file}`],
    ['DELETE', `/files/${file}`],
    ['GET', `/items/${item}`],
    ['DELETE', `/items/${item}`],
    ['PATCH', `/items/${item}`, { description: 'mine' }],
    ['GET', `/items?file_id=${file}`],
  ] as const) {
    const real = await ask(intruder, method, `/vector_store/${mine}${path}`, body);
    const none = await ask(intruder, method, `/vector_store/${mine}${swapped(path, [file, item])}`, body);
    t.same({ ...real, body: swapped(real.body, [file, item]) }, none, `${method} ${path}`);
  }
  await ask(intruder, 'DELETE', `/vector_store/${mine}`);
});

t.test('lists, usage and the webhook secret are separate', async (t) => {
  for (const path of ['/videos', '/music', '/vector_store', '/vector_stores'])
    t.match(JSON.parse((await ask(intruder, 'GET', path)).body), { data: [] }, path);
  await make('/chat/completions', { ...words, max_tokens: 3 });
  const rows = async (key: string): Promise<number> =>
    JSON.parse((await ask(key, 'GET', '/usage?group_by=request')).body).data.length;
  await eventually(async () => (await rows(owner)) > 0, "the owner's usage");
  const used = JSON.parse((await ask(intruder, 'GET', '/usage?group_by=request')).body).data as {
    key: string;
  }[];
  t.notMatch(JSON.stringify(used), /A lock|4711/);
  const ownerRows = JSON.parse((await ask(owner, 'GET', '/usage?group_by=request')).body).data as object[];
  t.equal(
    used.filter((row) => ownerRows.some((own) => JSON.stringify(own) === JSON.stringify(row))).length,
    0,
  );
  const secrets = await Promise.all([owner, intruder].map((key) => ask(key, 'GET', '/webhooks/secret')));
  t.equal(new Set(secrets.map(({ body }) => JSON.parse(body).secret)).size, 2);
  const before = await ask(owner, 'GET', '/webhooks/secret');
  await ask(intruder, 'POST', '/webhooks/secret/rotate');
  t.same((await ask(owner, 'GET', '/webhooks/secret')).body, before.body, 'rotating is for oneself');
});

t.test('every key of one subscription sees the same', async (t) => {
  const { secret: colleague } = await management.createKey({ subscription: 'sub_default' });
  for (const path of [
    `/vector_store/${store}/files`,
    `/vector_store/${store}/files/${file}`,
    `/vector_store/${store}/items`,
    `/vector_store/${store}/items/${item}`,
    '/webhooks/secret',
  ])
    t.same(await ask(colleague, 'GET', path), await ask(owner, 'GET', path), path);
  for (const [path, id] of [
    [`/videos/${video}`, video],
    [`/music/${song}`, song],
    [`/vector_store/${store}`, store],
  ] as const)
    t.match(JSON.parse((await ask(colleague, 'GET', path)).body), { id }, path);
  for (const [path, id] of [
    ['/videos', video],
    ['/music', song],
    ['/vector_store', store],
  ] as const)
    t.match(JSON.parse((await ask(colleague, 'GET', path)).body).data, [{ id }], path);
  // By now the ledger has what the test before waited for.
  const used = JSON.parse((await ask(colleague, 'GET', '/usage?group_by=request')).body).data as object[];
  t.ok(used.length > 0, 'what the owner used');
});

t.test('no attempt changed a record', async (t) => {
  t.match(JSON.parse((await ask(owner, 'GET', `/videos/${video}`)).body), { id: video });
  t.match(JSON.parse((await ask(owner, 'GET', `/music/${song}`)).body), { id: song });
  const running = JSON.parse((await ask(owner, 'GET', `/responses/${response}`)).body);
  t.match(running, { id: response, status: 'in_progress' });
  t.equal((await ask(owner, 'DELETE', `/streams/${stream}`)).status, 204);
  t.match(JSON.parse((await ask(owner, 'GET', `/vector_store/${store}/items`)).body), {
    data: [{ id: item, description: /4711|^$|lock/ }],
  });
  t.equal(JSON.parse((await ask(owner, 'GET', `/vector_store/${store}/files`)).body).data.length, 1);
});
