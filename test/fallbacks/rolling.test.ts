/** Tests a rolling replacement of replicas under load: no request fails. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { completion } from '../engines/behind-gateway.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';

interface Replica {
  readonly url: string;
  readonly served: () => number;
  /** As a model server ends on SIGTERM: no new connections, running responses finish, idle connections close. */
  stop(): Promise<void>;
}

const startReplica = async (port = 0): Promise<Replica> => {
  let served = 0;
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { stream } = JSON.parse(body) as { stream?: boolean };
      served++;
      setTimeout(() => {
        if (stream !== true) {
          response.setHeader('content-type', 'application/json');
          response.end(JSON.stringify(completion({ content: 'ok' })));
          return;
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(
          'data: {"id":"c","choices":[{"index":0,"delta":{"content":"o"},"finish_reason":null}]}\n\n',
        );
        setTimeout(() => {
          response.write(
            'data: {"id":"c","choices":[{"index":0,"delta":{"content":"k"},"finish_reason":null}]}\n\n',
          );
          response.end(
            'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
          );
        }, 15);
      }, 5);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}/v1`,
    served: () => served,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      // A connection that was busy is idle only later.
      const timer = setInterval(() => server.closeIdleConnections(), 5);
      await closed;
      clearInterval(timer);
    },
  };
};

t.test('replicas are replaced one by one', { skip: onlyLong }, async (t) => {
  const replicas = [await startReplica(), await startReplica(), await startReplica()];
  const gateway = await startGateway({
    catalog: JSON.stringify({
      engines: { pool: { wire: 'openai', replicas: replicas.map(({ url }) => url) } },
      models: {
        'pool/chat': {
          engine: 'pool',
          context_length: 8192,
          limits: { concurrency: 1000, requests_per_minute: 1_000_000 },
        },
      },
    }),
  });
  t.teardown(async () => {
    await gateway.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
  });
  let running = true;
  let done = 0;
  const failures: string[] = [];
  const ask = async (stream: boolean): Promise<void> => {
    const response = await fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'pool/chat', stream, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    const text = await response.text();
    const isGood = stream ? text.endsWith('data: [DONE]\n\n') && !text.includes('"error"') : response.ok;
    if (!isGood) failures.push(`${response.status} ${text.slice(0, 200)}`);
    done++;
  };
  const client = async (stream: boolean): Promise<void> => {
    while (running) await ask(stream);
  };
  const clients = Array.from({ length: 12 }, (_, index) => client(index % 2 === 0));
  for (const index of [0, 1, 2]) {
    const before = done;
    await eventually(() => done > before + 60, 'requests run');
    const old = replicas[index];
    if (old === undefined) throw new Error('three were started');
    await old.stop();
    const without = done;
    await eventually(() => done > without + 60, 'the others serve alone');
    const fresh = await startReplica(Number(new URL(old.url).port));
    replicas[index] = fresh;
    await eventually(() => fresh.served() > 10, 'the new one is used again', 600);
  }
  running = false;
  await Promise.all(clients);
  t.strictSame(failures, []);
  t.comment(`${done} requests`);
});
