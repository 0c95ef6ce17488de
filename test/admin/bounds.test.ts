/** Tests the bounds of the admin port: time, connections, followers, exports, tokens. */
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openState } from '../../src/adapters/state/open.ts';
import { createAdminApi } from '../../src/admin/api.ts';
import { CsvExports } from '../../src/admin/csv.ts';
import { serveApi } from '../../src/admin/http-api.ts';
import type { AdminApi, AdminParts, AdminReply } from '../../src/admin/route.ts';
import { startAdmin } from '../../src/admin/server.ts';
import { createTokenManagement } from '../../src/admin/tokens.ts';
import { silent } from '../engines/collect.ts';
import { eventually } from '../eventually.ts';
import { refusal } from './client.ts';

const ok = (value: unknown): AdminReply => ({ status: 200, headers: {}, body: JSON.stringify(value) });

const serve = async (t: Test, api: AdminApi, handle = serveApi(api)): Promise<string> => {
  const server = createServer(
    (request, response) => void handle(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/v1`;
};

t.test('a request that takes too long is answered, and says that it may be done', async (t) => {
  const parts = { log: silent, unready: () => new Promise(() => undefined) } as unknown as AdminParts;
  const api = createAdminApi(parts, async () => 'tester', 50);
  // Its timer keeps no process alive.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
  const request = { id: 'adm_1', method: 'GET', path: '/status', query: '', authorization: '', ifMatch: '' };
  const { status, body } = await api({ ...request, body: '' });
  t.equal(status, 504);
  t.match(JSON.parse(body), {
    error: { message: 'This took longer than 0.05 s; it may be done all the same' },
  });
});

t.test('the port takes 64 connections', async (t) => {
  const server = await startAdmin({
    ...{ host: '127.0.0.1', port: 0, metrics: () => '', unready: async () => [] },
  });
  t.teardown(() => server.close());
  const { port } = new URL(server.url);
  const open: Socket[] = [];
  t.teardown(() => {
    for (const socket of open) socket.destroy();
  });
  const add = async (): Promise<{ isOpen: () => boolean }> => {
    const socket = connect(Number(port), '127.0.0.1');
    open.push(socket);
    let isClosed = false;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      isClosed = true;
    });
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    return { isOpen: () => !isClosed };
  };
  const first = await Promise.all(Array.from({ length: 64 }, add));
  const another = await add();
  await eventually(() => !another.isOpen(), 'one too many is closed');
  t.ok(first.every(({ isOpen }) => isOpen()));
  open[0]?.destroy();
  await eventually(async () => {
    const response = await fetch(`${server.url}/livez`).catch(() => undefined);
    return response?.status === 200;
  }, 'there is room again');
});

t.test('at most 16 clients follow the log', async (t) => {
  const url = await serve(t, async () => ok({ object: 'list', data: [], cursor: '1:0' }));
  const abort = new AbortController();
  t.teardown(() => abort.abort());
  const follow = (signal = abort.signal) => fetch(`${url}/logs?follow=true`, { signal });
  const followers = await Promise.all(Array.from({ length: 16 }, () => follow()));
  t.ok(followers.every(({ status }) => status === 200));
  const refused = await follow();
  t.equal(refused.status, 503);
  t.strictSame(
    await refused.json(),
    refusal(503, 'server_error', 'provider_overloaded', 'At most 16 clients can follow the log'),
  );
});

/** `pages` of two rows each. */
const pagesOf =
  (
    pages: number,
    more: (page: number) => Promise<AdminReply | undefined> = async () => undefined,
  ): AdminApi =>
  async ({ query }) => {
    const page = Number(new URLSearchParams(query).get('after') ?? 0);
    const other = await more(page);
    if (other !== undefined) return other;
    const next = page + 1 < pages ? `/admin/v1/usage?after=${page + 1}` : null;
    const row = { model: `m${page}`, requests: 1 };
    return ok({ object: 'list', group_by: ['model'], data: [row, row], links: { next } });
  };

t.test('at most 4 exports run at once', async (t) => {
  let release = (): void => undefined;
  const held = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined);
  });
  const url = await serve(
    t,
    pagesOf(2, async (page) => (page === 0 ? undefined : held)),
  );
  const running = await Promise.all(Array.from({ length: 4 }, () => fetch(`${url}/usage?format=csv`)));
  const refused = await fetch(`${url}/usage?format=csv`);
  t.strictSame(
    await refused.json(),
    refusal(503, 'server_error', 'provider_overloaded', 'At most 4 exports run at once'),
  );
  release();
  const texts = await Promise.all(running.map((response) => response.text()));
  t.equal(texts[0]?.split('\r\n').length, 6);
});

const whole = async (url: string): Promise<string> =>
  (await fetch(url, { headers: { accept: 'text/csv' } })).text();

t.test('an export that fails, or has too many rows, is cut off', async (t) => {
  const failing = await serve(
    t,
    pagesOf(3, async (page) => (page < 2 ? undefined : { status: 503, headers: {}, body: '{}' })),
  );
  await t.rejects(whole(`${failing}/usage`));
  const exports = new CsvExports(pagesOf(9), 4);
  const request = { id: 'adm_1', method: 'GET', path: '/usage', query: '', authorization: '', ifMatch: '' };
  const endless = await serve(t, pagesOf(9), (_, response) =>
    exports.send({ ...request, body: '' }, response),
  );
  await t.rejects(whole(`${endless}/usage`));
});

t.test('at most 1000 tokens', async (t) => {
  const state = await openState({ dataDir: join(t.testdir(), 'data'), redis: undefined });
  t.teardown(() => state.close());
  for (let index = 0; index < 999; index++) {
    const value = { name: `n${index}`, created: index, display: '' };
    await state.create('admin-token', { id: `token_${index}`, owner: '', value });
  }
  const tokens = createTokenManagement(state);
  await tokens.create('last');
  await t.rejects(tokens.create('another'), { message: 'There are 1000 tokens already' });
  await tokens.revoke('n5');
  t.equal((await tokens.create('another')).record.name, 'another');
});
