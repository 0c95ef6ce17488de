/** Tests the memory of a gateway process under large and chunked request bodies that never end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { eventually, patiently } from '../eventually.ts';
import { RawClient, request } from '../http/raw-client.ts';
import { servers } from '../http/servers.ts';
import { onlyLong } from '../long.ts';
import { key, startProcess } from '../vector-store/large-upload.ts';

const megabyte = 1024 * 1024;
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const path = '/v1/chat/completions';
const chat = JSON.stringify({ model: 'sluice/chat', messages: [{ role: 'user', content: 'hello' }] });

/** Sends as fast as the gateway reads; true when all of it is sent. */
const pour = async (client: RawClient, piece: Buffer, times: number): Promise<boolean> => {
  for (let sent = 0; sent < times && !client.closed; sent++)
    if (!client.socket.write(piece))
      await eventually(() => client.closed || client.socket.writableLength === 0, 'the socket', 90);
  return !client.closed;
};

// Both at once: each is a process of its own, and waits for 20 s until bodies are refused.
t.test('bodies that never end', { jobs: 2, skip: onlyLong }, async (t) => {
  for (const { name, skip } of servers)
    void t.test(name, { skip, buffered: true, timeout: patiently(200_000) }, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
      const gateway = await startProcess(folder, ['--expose-gc'], {
        SLUICE_EDGE: name,
        SLUICE_BODY_MEMORY_MB: '256',
        SLUICE_BODY_MEMORY_PER_SUBSCRIPTION_MB: '128',
      });
      const clients: RawClient[] = [];
      t.teardown(async () => {
        for (const { socket } of clients) socket.destroy();
        await gateway.end('SIGTERM');
        rmSync(folder, { recursive: true, force: true });
      });
      const connect = async (): Promise<RawClient> => {
        const client = await RawClient.connect(Number(new URL(gateway.url).port));
        clients.push(client);
        return client;
      };
      const ask = async () =>
        (await connect()).send(request('POST', path, { headers, body: chat })).response();
      t.equal((await ask()).status, 200);
      const resident = async () => (await gateway.memory()).now.resident / megabyte;
      const idle = await resident();

      await t.test('a body in chunks of 80 bytes', async (t) => {
        const client = await connect();
        client.send(request('POST', path, { headers: { ...headers, 'transfer-encoding': 'chunked' } }));
        const piece = Buffer.from(`50\r\n${' '.repeat(80)}\r\n`.repeat(4096));
        t.equal(await pour(client, piece, 100), true);
        const grown = (await resident()) - idle;
        t.ok(grown < 150, `31 MB take ${grown.toFixed()} MB`);
        client.socket.destroy();
      });

      await t.test('a body in chunks of one byte', async (t) => {
        const client = await connect();
        client.send(request('POST', path, { headers: { ...headers, 'transfer-encoding': 'chunked' } }));
        void pour(client, Buffer.from('1\r\nx\r\n'.repeat(20_000)), 100);
        t.equal((await client.response()).status, 400);
        await client.disconnected();
        const grown = (await resident()) - idle;
        t.ok(grown < 150, `it takes ${grown.toFixed()} MB`);
      });

      await t.test('25 bodies of 120 MB at once', { timeout: patiently(150_000) }, async (t) => {
        const length = 120 * megabyte;
        let whole = 0;
        const attackers: RawClient[] = [];
        for (let count = 0; count < 25; count++) {
          const client = await connect();
          attackers.push(client);
          client.send(request('POST', path, { headers: { ...headers, 'content-length': String(length) } }));
          // All but the last megabyte.
          void pour(client, Buffer.alloc(megabyte, ' '), 119).then((sent) => {
            if (sent) whole++;
          });
        }
        await eventually(() => whole > 0, 'a body to be sent', 60);
        t.equal((await ask()).status, 200, 'small requests are served meanwhile');
        const grown = (await gateway.memory()).peak.resident / megabyte - idle;
        t.equal(whole, 1, 'the others wait in their sockets');
        t.ok(grown < 350, `they take ${grown.toFixed()} MB`);
        // The one that was read gets a 400 for its silence, at about the same time.
        const refused = await Promise.any(
          attackers.map(async (client) => {
            const response = await client.response();
            if (response.status !== 429) throw new Error(String(response.status));
            return response;
          }),
        );
        t.equal(refused.headers['retry-after'], '10');
      });
    });
});
