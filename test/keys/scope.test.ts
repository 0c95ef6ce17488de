/** Tests keys that are restricted: by time, model, route and address, through the socket. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { parseNetworks } from '../../src/helpers/networks.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { scopeOf } from '../../src/keys/scope.ts';
import type { KeyChanges } from '../../src/keys/settings.ts';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway({ env: { SLUICE_TRUSTED_PROXIES: '127.0.0.0/8, 10.1.0.0/16' } });
t.teardown(() => gateway.stop());
const keys = createKeyManagement(gateway.ports.state);

const make = async (changes: KeyChanges) => keys.createKey({ subscription: 'default', ...changes });

const call = async (
  secret: string,
  { path = '/chat/completions', body = chat, headers = {} }: Partial<Parameters<typeof request>[0]> = {},
) => request({ secret, path, body, headers });

const get = async (secret: string, path: string) => request({ secret, path, body: undefined, headers: {} });

const chat = {
  model: 'sluice/chat',
  messages: [{ role: 'user', content: 'Hello' }],
  max_tokens: 5,
};

const request = async (options: {
  secret: string;
  path: string;
  body: object | undefined;
  headers: Record<string, string>;
}) => {
  const response = await fetch(`${gateway.url}${options.path}`, {
    headers: {
      authorization: `Bearer ${options.secret}`,
      'content-type': 'application/json',
      ...options.headers,
    },
    ...(options.body && { method: 'POST', body: JSON.stringify(options.body) }),
  });
  const json = (await response.json()) as { error?: { message: string; code?: unknown } };
  return { status: response.status, message: json.error?.message, error: json.error };
};

t.test('a model outside the list does not exist', async (t) => {
  const { secret } = await make({ models: ['sluice/cha*'] });
  t.match(await call(secret), { status: 200 });
  const foreign = await call(secret, { body: { ...chat, model: 'sluice/reasoner' } });
  const unknown = await call(secret, { body: { ...chat, model: 'sluice/none' } });
  t.equal(foreign.status, 404);
  t.same(
    JSON.stringify(foreign.error).replaceAll('sluice/reasoner', 'sluice/none'),
    JSON.stringify(unknown.error),
  );
  t.match(await get(secret, '/models/sluice/chat'), { status: 200 });
  t.match(await get(secret, '/models/sluice/reasoner'), { status: 404 });
  t.match(await call(secret, { path: '/embeddings', body: { model: 'sluice/embed', input: 'a' } }), {
    status: 404,
  });
  t.match(await get(secret, '/audio/voices?model=sluice/speech'), {
    status: 404,
  });
  const large = { ...chat, model: 'sluice/reasoner', user: 'x'.repeat(100_000) };
  t.match(await call(secret, { body: large }), { status: 404 }, 'also where the body is admitted first');
});

t.test('routes', async (t) => {
  const { secret } = await make({ routes: ['POST /chat/*', '/usage'] });
  t.match(await call(secret), { status: 200 });
  t.match(await get(secret, '/usage'), { status: 200 });
  t.match(await call(secret, { path: '/embeddings', body: { model: 'sluice/embed', input: 'a' } }), {
    status: 401,
    message: 'The API key may not be used for POST /embeddings',
    error: { code: 401 },
  });
  t.match(await get(secret, '/models/sluice/chat'), {
    status: 401,
    message: 'The API key may not be used for GET /models/{id+}',
  });
  t.match(
    await call(secret, {
      path: '/messages',
      body: { ...chat },
      headers: { 'anthropic-version': '2023-06-01' },
    }),
    { status: 401, error: { type: 'authentication_error' } },
  );
});

t.test('networks, behind proxies that are trusted', async (t) => {
  const { secret } = await make({ networks: ['192.0.2.0/24', '2001:db8::/32'] });
  const from = (forwarded?: string) =>
    call(secret, forwarded === undefined ? {} : { headers: { 'x-forwarded-for': forwarded } });
  t.match(await from(), { status: 401, message: 'The API key may not be used from this address' });
  t.match(await from('192.0.2.7'), { status: 200 });
  t.match(await from('2001:db8::7'), { status: 200 });
  t.match(await from('192.0.2.7, 10.1.2.3'), { status: 200 }, 'two proxies');
  t.match(await from('192.0.2.7, 203.0.113.9'), { status: 401 }, 'what a client claims is not believed');
  t.match(await from('192.0.2.7, nonsense'), { status: 401 });
  const lines = ['x-forwarded-for: 192.0.2.7', 'x-forwarded-for: 203.0.113.9'];
  t.match(await statusOfLines(secret, lines), 401, 'a proxy that appends a line of its own');
  t.match(await statusOfLines(secret, lines.toReversed()), 200);
});

/** `fetch` would join the lines. */
const statusOfLines = async (secret: string, lines: readonly string[]): Promise<number> => {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    [
      'GET /v1/usage HTTP/1.1',
      'host: a',
      `authorization: Bearer ${secret}`,
      ...lines,
      'connection: close',
      '',
      '',
    ].join('\r\n'),
  );
  return Number((await text(socket)).split(' ')[1]);
};

t.test('expiry', async (t) => {
  const { secret, key } = await make({ expires: Math.floor(Date.now() / 1000) + 2 });
  t.match(await call(secret), { status: 200 });
  while (Date.now() < (key.expires ?? 0) * 1000) await new Promise((resolve) => setTimeout(resolve, 50));
  const time = new Date((key.expires ?? 0) * 1000).toISOString();
  t.match(await call(secret), { status: 401, message: `The API key expired at ${time}` });
});

t.test('rotation: the former secret works for a while, and both are one key', async (t) => {
  const { secret, key } = await make({ name: 'rotated', tags: ['team-a'], models: ['sluice/*'] });
  const next = await keys.rotateKey(key.id, 3600);
  t.equal(next.key.id, key.id);
  t.match(next.key, { name: 'rotated', tags: ['team-a'], models: ['sluice/*'] });
  t.match(await call(secret), { status: 200 });
  t.match(await call(next.secret), { status: 200 });
  const updated = await keys.updateKey(key.id, { models: ['other/*'], expires: null });
  t.equal(updated.expires, undefined);
  const both = (await keys.listKeys()).filter(({ id }) => id === key.id);
  t.match(both, [{ models: ['other/*'], expires: Number }, { models: ['other/*'] }]);
  t.notOk('expires' in (both[1] ?? {}));
  await keys.revokeKey(key.id);
  t.strictSame(
    (await keys.listKeys()).filter(({ id }) => id === key.id).map(({ status }) => status),
    ['closed', 'closed'],
  );
  await t.rejects(keys.rotateKey(key.id, 0), { message: `Key ${key.id} is closed, which is final` });
});

t.test('the last use is noted', async (t) => {
  const { secret, key } = await make({});
  t.equal((await keys.lastUses()).get(key.id), undefined);
  const before = Math.floor(Date.now() / 1000);
  await call(secret);
  let last: number | undefined;
  for (let look = 0; look < 100 && last === undefined; look++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    last = (await keys.lastUses()).get(key.id);
  }
  t.ok((last ?? 0) >= before);
});

t.test('settings that cannot work are refused by name', async (t) => {
  const cases: readonly [KeyChanges, RegExp][] = [
    [{ models: [] }, /^models must be 1 to 100 ids/],
    [{ models: ['a b'] }, /^models must be/],
    [{ routes: ['chat'] }, /^routes must be/],
    [{ networks: ['10.0.0.0/33'] }, /^networks must be/],
    [{ networks: ['example.com'] }, /^networks must be/],
    [{ tags: ['a,b'] }, /^tags must be/],
    [{ expires: 1 }, /^expires must be a time in the future/],
    [{ metadata: { a: 'x'.repeat(513) } }, /^metadata must be/],
  ];
  for (const [changes, message] of cases) await t.rejects(make(changes), { message });
  const key = {
    id: 'key_1',
    name: '',
    subscription: 'sub',
    status: 'active',
    created: 0,
    display: '',
  } as const;
  t.equal(scopeOf(key), undefined, 'without restrictions there is nothing to check');
  t.equal(scopeOf({ ...key, models: ['a.b/*'] })?.allowsModel('axb/c'), false);
  t.throws(() => parseNetworks(['1.2.3.4/']), { message: /^"1.2.3.4\/" is no network/ });
});
