/** Tests the Vectors port on Qdrant. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { openVectors } from '../../src/adapters/vectors/open.ts';
import { openQdrantVectors } from '../../src/adapters/vectors/qdrant.ts';
import { pointId, requests } from '../../src/adapters/vectors/qdrant-points.ts';
import { loadConfig } from '../../src/config.ts';
import type { Point, Vectors } from '../../src/ports/vectors.ts';
import { vectorsContract } from '../contracts/vectors.ts';
import { freePort } from '../services/child.ts';
import { qdrantMissing, startQdrant } from '../services/qdrant.ts';

const newPoint = (id: string, text = 'text'): Point => ({
  id,
  file: 'file-1',
  filename: 'a.txt',
  index: 0,
  text,
  description: '',
  createdAt: 1,
  updatedAt: 1,
  vector: Float32Array.of(1, 0, 0, 0),
});
const query = Float32Array.of(1, 0, 0, 0);
const away = { name: 'ApiError', kind: 'unavailable', message: 'The vector store is unavailable' };

t.test('contract', { skip: qdrantMissing() ?? false }, async (t) => {
  const service = await startQdrant();
  const prefix = `sluice_test_${randomBytes(6).toString('hex')}_`;
  t.teardown(async () => {
    for (const name of ['stores', 'items_3', 'items_4', 'items_300'])
      await fetch(`${service.url}/collections/${prefix}${name}`, { method: 'DELETE' });
    await service.stop();
  });
  await vectorsContract(t, () => openQdrantVectors(service.url, { prefix }), { histories: 15 });
});

t.test('a server of our own', { skip: qdrantMissing({ own: true }) ?? false }, async (t) => {
  const service = await startQdrant({ own: true });
  t.teardown(() => service.stop());
  const vectors = openQdrantVectors(service.url);
  t.teardown(() => vectors.close());

  await t.test('stored points survive a crash, and the same connection continues', async (t) => {
    await vectors.create('vs', 4);
    await vectors.upsert('vs', [newPoint('a'), newPoint('b')]);
    await vectors.publish('vs', 'file-1');
    await vectors.upsert('vs', [newPoint('c')]);
    await service.kill();
    await t.rejects(vectors.search('vs', query, { limit: 9 }), away);
    await t.rejects(vectors.remove('vs', 'a'), away);
    await t.rejects(vectors.create('other', 4), away);
    await t.rejects(vectors.check(), {
      message: /^Qdrant at 127\.0\.0\.1:\d+ cannot be used: .*ECONNREFUSED.*\.$/,
    });
    await service.revive();
    await vectors.check();
    t.strictSame(await found(vectors), ['a', 'b']);
    await vectors.publish('vs', 'file-1');
    t.strictSame(await found(vectors), ['a', 'b', 'c']);
    t.equal((await vectors.list('vs', { limit: 9, order: 'asc' })).length, 3);
  });

  await t.test('requests to a busy server are retried, a bounded number of times', async (t) => {
    const proxy = await startProxy(service.url);
    t.teardown(() => proxy.stop());
    const through = openQdrantVectors(`${proxy.url}/under/a/path/`, { key: 'secret' });
    t.strictSame(await found(through), ['a', 'b', 'c']);
    t.equal(proxy.lastKey, 'secret');
    for (const mode of [503, 429, 'drop'] as const) {
      proxy.fail(mode, 2);
      t.strictSame(await found(through), ['a', 'b', 'c'], `${mode}`);
      proxy.fail(mode, 1_000);
      const before = proxy.count;
      await t.rejects(found(through), away);
      t.equal(proxy.count - before, 3);
      proxy.fail(mode, 0);
    }
    proxy.fail(403, 1_000);
    const before = proxy.count;
    await t.rejects(through.check(), {
      message: /^Qdrant at 127\.0\.0\.1:\d+ cannot be used: it answers 403 .*\.$/,
    });
    t.equal(proxy.count - before, 1, 'nor again when it says no');
    proxy.fail('hang', 1);
    const hasty = openQdrantVectors(proxy.url, { patience: 200 });
    await t.rejects(found(hasty), away, 'or does not answer in time');
    proxy.fail('hang', 0);
    t.strictSame(await found(through), ['a', 'b', 'c']);
  });

  await t.test('deleting a store deletes its points and no others', async (t) => {
    await vectors.create('other', 4);
    await vectors.upsert('other', [newPoint('a')]);
    await vectors.publish('other', 'file-1');
    await vectors.drop('vs');
    const answer = await fetch(`${service.url}/collections/sluice_items_4/points/count`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"exact":true}',
    });
    t.match(await answer.json(), { result: { count: 1 } });
    t.equal(await vectors.count('other'), 1);
  });
});

t.test('an unusable server fails the start with one sentence', async (t) => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const qdrant = loadConfig({ QDRANT_URL: nobody }).qdrant;
  await t.rejects(openVectors({ dataDir: 'unused', qdrant }), {
    message: /^Qdrant at 127\.0\.0\.1:\d+ cannot be used: .*ECONNREFUSED.*\.$/,
  });
  const mute = createPlainServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  t.teardown(() => mute.close());
  const address = mute.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const vectors = openQdrantVectors(`http://127.0.0.1:${port}`, { patience: 100 });
  await t.rejects(vectors.check(), { message: /^Qdrant at 127\.0\.0\.1:\d+ cannot be used: .*abort.*\.$/ });
});

t.test('requests of a cluster', async (t) => {
  const seen: { method: string; path: string; key: unknown; body: Record<string, unknown> }[] = [];
  const payload = { ...newPoint('a'), store: 'vs', published: true, dimensions: 4, vector: undefined };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += String(piece);
    const path = String(request.url);
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    seen.push({ method: String(request.method), path, key: request.headers['api-key'], body });
    const point = { id: pointId('vs', 'a'), version: 0, score: 1, payload };
    const result = path.includes('/exists')
      ? { exists: false }
      : path.includes('/count')
        ? { count: 1 }
        : path.includes('/query') || path.includes('/scroll')
          ? { points: [point] }
          : /\/points(\?|$)/.test(path) && request.method === 'POST'
            ? path.includes('stores') && seen.length < 6
              ? []
              : [point]
            : { status: 'completed', operation_id: 1 };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ result, status: 'ok', time: 0 }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const { qdrant } = loadConfig({
    QDRANT_URL: url,
    QDRANT_API_KEY: 'secret',
    QDRANT_SHARDS: '6',
    QDRANT_REPLICAS: '3',
    QDRANT_WRITE_CONSISTENCY: '2',
    QDRANT_READ_CONSISTENCY: 'majority',
  });
  const vectors = await openVectors({ dataDir: 'unused', qdrant });
  t.teardown(() => vectors.close());
  await vectors.create('vs', 4);
  const created = seen.filter(({ method, path }) => method === 'PUT' && /^\/collections\/\w+$/.test(path));
  const numbers = { shard_number: 6, replication_factor: 3, write_consistency_factor: 2 };
  t.strictSame(
    created.map(({ path, body }) => [path, body]),
    [
      ['/collections/sluice_stores', { vectors: {}, ...numbers }],
      [
        '/collections/sluice_items_4',
        { vectors: { size: 4, distance: 'Cosine' }, hnsw_config: { m: 0, payload_m: 16 }, ...numbers },
      ],
    ],
  );
  await vectors.upsert('vs', [newPoint('a')]);
  await vectors.get('vs', 'a');
  await vectors.list('vs', { limit: 5, order: 'asc' });
  t.equal(await vectors.count('vs'), 1);
  await vectors.search('vs', query, { limit: 5 });
  await vectors.remove('vs', 'a');
  t.ok(
    seen.every(({ key }) => key === 'secret'),
    'the key is part of each',
  );
  const isRead = ({ method, path }: { method: string; path: string }) =>
    method === 'POST' && /\/points(\/(query|scroll|count))?\?/.test(path);
  const reads = seen.filter(isRead).map(({ path }) => path.replace(/^.*\/points/, ''));
  t.strictSame([...new Set(reads)].sort(), [
    '/count?consistency=majority',
    '/query?consistency=majority',
    '/scroll?consistency=majority',
    '?consistency=majority',
  ]);
  t.strictSame(
    seen.filter(({ path }) => /\/points(\/(query|scroll))?$/.test(path)),
    [],
    'no read without it',
  );
  const writes = seen.filter(({ path }) => path.includes('wait='));
  t.ok(writes.length >= 3);
  t.ok(writes.every(({ path }) => path.includes('wait=true') && path.includes('ordering=strong')));
});

t.test('settings', async (t) => {
  t.equal(loadConfig({}).qdrant, undefined);
  t.strictSame(loadConfig({ QDRANT_URL: 'https://q:6333' }).qdrant, {
    url: 'https://q:6333',
    key: undefined,
    shards: undefined,
    replicas: undefined,
    writeConsistency: undefined,
    readConsistency: undefined,
  });
  t.match(loadConfig({ QDRANT_URL: 'http://q', QDRANT_READ_CONSISTENCY: '2' }).qdrant, {
    readConsistency: 2,
  });
  for (const [env, message] of [
    [{ QDRANT_URL: 'q:6333' }, /^QDRANT_URL must be an address/],
    [{ QDRANT_API_KEY: 'two words' }, /^QDRANT_API_KEY must be at most 4096/],
    [{ QDRANT_SHARDS: '0' }, /^QDRANT_SHARDS must be a whole number from 1 to 256/],
    [{ QDRANT_REPLICAS: '17' }, /^QDRANT_REPLICAS must be a whole number from 1 to 16/],
    [
      { QDRANT_REPLICAS: '2', QDRANT_WRITE_CONSISTENCY: '3' },
      /^QDRANT_WRITE_CONSISTENCY must be a whole number from 1 to 2/,
    ],
    [
      { QDRANT_READ_CONSISTENCY: 'most' },
      /^QDRANT_READ_CONSISTENCY must be majority, quorum, all or a whole/,
    ],
  ] as const)
    t.throws(() => loadConfig(env), { name: 'ConfigError', message });
});

t.test('TLS with a CA of our own', async (t) => {
  const folder = t.testdir();
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = spawnSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=IP:127.0.0.1',
    ].concat(['-keyout', key, '-out', certificate]),
    { stdio: 'ignore' },
  );
  if (made.status !== 0) return t.comment('no openssl');
  const server = createSecureServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"result":{"exists":true,"count":0},"status":"ok","time":0}'),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const vectors = openQdrantVectors(url);
  await t.rejects(vectors.check(), { message: /cannot be used: self-signed certificate\.$/ });
  await vectors.close();
  const program = `import { openQdrantVectors } from ${JSON.stringify(import.meta.resolve('../../src/adapters/vectors/qdrant.ts'))};
    await openQdrantVectors(${JSON.stringify(url)}).check(); process.exit(0);`;
  const child = spawn(process.execPath, ['--import=tsx', '--input-type=module', '--eval', program], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate },
    stdio: 'inherit',
  });
  const [status] = await once(child, 'exit');
  t.equal(status, 0, 'with NODE_EXTRA_CA_CERTS the same server is trusted');
});

t.test('ids of points are stable UUIDs, different for other stores', async (t) => {
  t.equal(pointId('vs_1', 'item_1'), pointId('vs_1', 'item_1'));
  t.match(pointId('vs_1', 'item_1'), /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  const ids = ['vs_1', 'vs_2'].flatMap((store) => ['', 'a', 'b'].map((id) => pointId(store, id)));
  t.equal(new Set(ids).size, 6);
});

t.test('points are sent a bounded number at a time', async (t) => {
  const sizes = (points: readonly Point[]) => [...requests(points)].map((some) => some.length);
  const many = (count: number, text: string) => Array.from({ length: count }, () => newPoint('a', text));
  t.strictSame(sizes([]), []);
  t.strictSame(sizes(many(150, 'short')), [64, 64, 22]);
  t.strictSame(sizes(many(5, 'x'.repeat(1_900_000))), [2, 2, 1]);
  t.strictSame(sizes(many(2, 'x'.repeat(5_000_000))), [1, 1]);
});

const found = async (vectors: Vectors): Promise<readonly string[]> =>
  (await vectors.search('vs', query, { limit: 9 })).map(({ id }) => id);

type Failure = number | 'drop' | 'hang';

/** Forwards requests; the next few fail as configured. */
const startProxy = async (target: string) => {
  let failure: Failure = 503;
  let left = 0;
  const seen = { count: 0, lastKey: '' };
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    seen.count++;
    seen.lastKey = String(request.headers['api-key']);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    if (left-- > 0) {
      if (failure === 'drop') request.socket.destroy();
      if (typeof failure === 'number')
        response.writeHead(failure, { 'content-type': 'application/json' }).end('{"status":{"error":"no"}}');
      return;
    }
    const answer = await fetch(target + String(request.url).replace('/under/a/path', ''), {
      method: request.method ?? 'GET',
      headers: { 'content-type': 'application/json' },
      ...(pieces.length > 0 && { body: Buffer.concat(pieces) }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  };
  const server = createServer((request, response) => void pass(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    get count() {
      return seen.count;
    },
    get lastKey() {
      return seen.lastKey;
    },
    fail: (next: Failure, times: number) => {
      failure = next;
      left = times;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
