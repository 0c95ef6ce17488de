/** Tests the admin API of several gateway processes: it sees and reaches the requests of all of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import t from 'tap';
import type { LiveSnapshot } from '../../schemas/admin/live.ts';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { environmentOf, key } from '../processes/supervised.ts';
import { adminToken, callerOf } from './client.ts';

const main = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

const firstSnapshot = async (admin: string): Promise<LiveSnapshot> => {
  const abort = new AbortController();
  const response = await fetch(`${admin}/admin/v1/live`, {
    headers: { authorization: `Bearer ${adminToken}` },
    signal: abort.signal,
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.endsWith('\n\n')) break;
  }
  abort.abort();
  return JSON.parse(text.split('\n\n')[0]?.replace('event: snapshot\ndata: ', '') ?? '');
};

t.test('two processes', { skip: onlyLong }, async (t) => {
  const child = spawn(process.execPath, [main, 'serve', '--processes', '2'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environmentOf(t), SLUICE_ADMIN_TOKEN: adminToken, LOG_LEVEL: 'silent' },
  });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  let text = '';
  child.stdout.on('data', (piece) => {
    text += String(piece);
  });
  const url = await eventually(() => /base URL {3}(\S+)/.exec(text)?.[1], 'the gateway listens', 60);
  const admin = /admin API {2}(\S+)\/admin\/v1/.exec(text)?.[1] ?? '';
  const call = callerOf(admin);
  t.equal((await call('GET', '/status', undefined, { authorization: 'Bearer wrong' })).status, 401);
  t.match((await call('GET', '/status')).body, {
    ready: true,
    processes: [{ pid: Number }, { pid: Number }],
  });

  const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
  const stream = async (): Promise<string> => {
    try {
      const chunks = await client.chat.completions.create({
        model: 'sluice/chat',
        stream: true,
        messages: [{ role: 'user', content: '/sim tokens=4000 rate=20/s\nGo on.' }],
      });
      for await (const _ of chunks);
      return 'well';
    } catch (error) {
      return (error as Error).message;
    }
  };
  // Connections are spread by the system: after a few both processes have some.
  const streams: Promise<string>[] = [];
  const running = await eventually(async () => {
    const { data } = (await call('GET', '/requests?state=streaming')).body;
    if (data.length === streams.length && streams.length < 40) streams.push(stream());
    const processes = new Set(data.map(({ process }: { process: number }) => process));
    return processes.size === 2 && data.length === streams.length && data;
  }, 'requests in both processes');
  const snapshot = await firstSnapshot(admin);
  t.match(snapshot, {
    ...{ object: 'live.snapshot', processes: 2, counts: { streaming: running.length } },
    models: [{ id: 'sluice/chat', engine: 'simulator', streaming: running.length }],
    engines: [{ id: 'simulator', health: 'ok' }],
  });
  t.equal(new Set(snapshot.requests.map(({ process }) => process)).size, 2);
  const ids = running.map(({ id }: { id: string }) => id);
  for (const id of ids) {
    t.equal((await call('GET', `/requests/${id}`)).status, 200);
    t.equal((await call('POST', `/requests/${id}/cancel`)).status, 200);
  }
  for (const end of await Promise.all(streams)) t.match(end, /cancelled by an operator/);
  t.equal((await call('POST', `/requests/${ids[0]}/cancel`)).status, 404);
  const { data } = (await call('GET', '/logs?limit=100')).body;
  t.strictSame(new Set(data.map(({ id }: { id: string }) => id)), new Set(ids));
  const { body: subscription } = await call('POST', '/subscriptions', { name: 'Acme' });
  t.equal((await call('GET', `/subscriptions/${subscription.id}`)).status, 200);
  t.equal((await call('POST', '/catalog/reload')).status, 200);
  const { data: noted } = (await call('GET', '/audit?limit=2')).body;
  t.match(noted, [{ action: 'catalog.reload' }, { action: 'subscription.create' }], 'noted once for all');
  t.match((await call('GET', '/engines')).body.data, [{ id: 'simulator', health: 'ok', replicas: [] }]);
  const root = url.replace(/\/v1$/, '');
  for (const [address, title] of [
    [root, 'Sluice'],
    [admin, 'Sluice console'],
  ]) {
    const page = await fetch(`${address}/`, { headers: { accept: 'text/html' } });
    t.match(await page.text(), `<title>${title}</title>`);
    t.match(page.headers.get('content-security-policy'), `connect-src 'self' ${root};`);
  }
});
