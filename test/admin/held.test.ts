/** Tests the gauges of in-flight requests, buffers and replicas while requests run. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { startScriptedEngine, token } from '../engines/scripted-engine.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { servers } from '../http/servers.ts';

const metricsOf = async (gateway: TestGateway): Promise<ReadonlyMap<string, number>> => {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
};

const seen = (
  gateway: TestGateway,
  isSo: (value: (name: string) => number | undefined) => boolean,
): Promise<true> =>
  eventually(async () => {
    const metrics = await metricsOf(gateway);
    return isSo((name) => metrics.get(name));
  }, String(isSo));

const body = (more: object = {}): string =>
  JSON.stringify({ model: 'a/model', stream: true, messages: [{ role: 'user', content: 'Hello' }], ...more });

const send = async (gateway: TestGateway, text: string, length = text.length): Promise<Socket> => {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${text}`,
  );
  return socket;
};

const responses = (route: string, method: string, status: number): string =>
  `sluice_http_responses_total{method="${method}",route="${route}",status="${status}"}`;

for (const { name: edge, skip } of servers)
  t.test(`on ${edge}`, { skip }, async (t) => {
    const engine = await startScriptedEngine((request) => request.answer());
    t.teardown(() => engine.close());
    const gateway = await startGateway({
      env: { SLUICE_ADMIN_PORT: '0', SLUICE_EDGE: edge },
      catalog: `
engines:
  pool: { wire: openai, replicas: ['${engine.url}'], concurrency: 1 }
models:
  a/model: { kind: chat, engine: pool, context_length: 8192, tokenizer: simulator }
`,
    });
    t.teardown(() => gateway.stop());
    const replica = `{engine="pool",replica="${engine.url}"}`;

    t.test('responses are counted by route and status, and only by known ones', async (t) => {
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
      const ask = async (path: string, init: RequestInit = {}): Promise<void> => {
        await (await fetch(gateway.url + path, init)).text();
      };
      await ask('/chat/completions', { method: 'POST', headers, body: body() });
      await ask('/chat/completions', { method: 'POST', headers, body: '{' });
      await ask('/chat/completions', { method: 'POST', body: body() });
      await ask('/chat/completions', { method: 'DELETE' });
      await ask('/models/a/model', { headers });
      await ask('/models', { method: 'HEAD' });
      for (const path of ['/no', '/no/2', '/%ff']) await ask(path);
      const metrics = await metricsOf(gateway);
      const told = [...metrics].filter(([name]) => name.startsWith('sluice_http_responses_total'));
      t.strictSame(
        Object.fromEntries(told),
        {
          [responses('/chat/completions', 'POST', 200)]: 1,
          [responses('/chat/completions', 'POST', 400)]: 1,
          [responses('/chat/completions', 'POST', 401)]: 1,
          [responses('/models/{id+}', 'GET', 200)]: 1,
          [responses('/models', 'GET', 200)]: 1,
          [responses('other', 'other', 404)]: 3,
          [responses('other', 'other', 405)]: 1,
        },
        JSON.stringify(told),
      );
    });

    t.test('bytes of an unfinished body, and a client that disconnects before the response', async (t) => {
      const text = body({ padding: 'x'.repeat(20_000) });
      const socket = await send(gateway, text.slice(0, 15_000), text.length);
      t.ok(
        await seen(
          gateway,
          (value) => Number(value('sluice_http_held_bytes{what="request bodies"}')) >= 15_000,
        ),
      );
      socket.destroy();
      t.ok(
        await seen(
          gateway,
          (value) =>
            value(responses('/chat/completions', 'POST', 499)) === 1 &&
            value('sluice_http_cut_total{reason="client disconnected"}') === 1 &&
            value('sluice_http_held_bytes{what="request bodies"}') === 0,
        ),
      );
    });

    t.test('a paused reader, and one that waits behind it', async (t) => {
      const words = token('word '.repeat(12_000));
      engine.script = async (request) => {
        request.streamHead();
        // More than all sockets on the way take; the connection ends with the client.
        while (!request.socket.destroyed) {
          request.chunk(words);
          if (request.socket.writableNeedDrain)
            await Promise.race([once(request.socket, 'drain').catch(() => undefined), request.gone]);
        }
      };
      const slow = await send(gateway, body());
      slow.pause();
      t.ok(
        await seen(
          gateway,
          (value) =>
            value('sluice_http_slow_readers') === 1 &&
            Number(value('sluice_engine_held_bytes{engine="pool"}')) > 0,
        ),
        'bytes wait for it',
      );
      const second = await send(gateway, body());
      t.ok(await seen(gateway, (value) => value('sluice_engine_waiting{engine="pool"}') === 1));
      t.equal((await metricsOf(gateway)).get(`sluice_replica_in_flight${replica}`), 1);
      second.destroy();
      slow.destroy();
      t.ok(
        await seen(
          gateway,
          (value) =>
            value('sluice_http_in_flight') === 0 &&
            value('sluice_http_slow_readers') === 0 &&
            value('sluice_http_held_bytes{what="answers"}') === 0 &&
            value('sluice_engine_held_bytes{engine="pool"}') === 0 &&
            value(`sluice_replica_in_flight${replica}`) === 0,
        ),
        'and nothing is left of it',
      );
    });

    t.test('an ejected replica is reported', async (t) => {
      engine.script = (request) => request.reset();
      t.equal((await metricsOf(gateway)).get(`sluice_replica_up${replica}`), 1);
      for (let n = 0; n < 3; n++) {
        const socket = await send(gateway, body());
        await once(socket, 'data');
        socket.destroy();
      }
      t.ok(await seen(gateway, (value) => value(`sluice_replica_up${replica}`) === 0));
    });
  });
