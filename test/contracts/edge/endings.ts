/** Start and shutdown: addresses, certificates and draining. */

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { of, timer } from 'rxjs';
import { map } from 'rxjs/operators';
import type { Test } from 'tap';
import { eventually } from '../../eventually.ts';
import { startEdge } from '../../http/edge-fixture.ts';
import { RawClient, request } from '../../http/raw-client.ts';
import { bytes, eventStream, open, Probe, text } from './probe.ts';

const hello = open('GET', '/hello', () => of(text('hello')));

export const endings = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  await t.test('an address that is not available', async (t) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    t.teardown(() => taken.close());
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await t.rejects(startEdge(t, name, [hello], {}, { port }), {
      message: `Cannot listen on 127.0.0.1:${port}: the port is taken by another program`,
    });
    const { port: ours } = await startEdge(t, name, [hello]);
    await t.rejects(startEdge(t, name, [hello], {}, { port: ours }), {
      message: `Cannot listen on 127.0.0.1:${ours}: the port is taken by another program`,
    });
    await t.rejects(startEdge(t, name, [hello], {}, { host: '192.0.2.1' }), {
      message: 'Cannot listen on 192.0.2.1:0: this machine does not have that address',
    });
  });

  await t.test('TLS', async (t) => {
    const folder = t.testdir({ 'bad.pem': 'no certificate' });
    const file = (part: string) => path.join(folder, part);
    const certificate = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=localhost',
    ];
    execFileSync('openssl', [...certificate, '-keyout', file('key.pem'), '-out', file('cert.pem')], {
      stdio: 'ignore',
    });
    const tls = { certFile: file('cert.pem'), keyFile: file('key.pem') };
    const { client, edge } = await startEdge(
      t,
      name,
      [
        hello,
        open('POST', '/size', ({ body }) => body.whole().pipe(map((whole) => text(String(whole.length))))),
      ],
      {},
      { tls },
    );
    t.match(edge.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    const connection = await client();
    t.equal((await connection.send(request('GET', '/v1/hello')).response()).body, 'hello');
    const large = request('POST', '/v1/size', { body: Buffer.alloc(1_000_000) });
    t.equal((await connection.send(large).response()).body, '1000000');
    await t.rejects(startEdge(t, name, [hello], {}, { tls: { ...tls, certFile: file('none.pem') } }), {
      message: `TLS certificate ${file('none.pem')} cannot be read: ENOENT`,
    });
    await t.rejects(startEdge(t, name, [hello], {}, { tls: { ...tls, certFile: file('bad.pem') } }), {
      message: `TLS certificate ${file('bad.pem')} and key ${tls.keyFile} are not a valid pair`,
    });
  });

  await t.test('drain lets running requests finish', async (t) => {
    const stream = new Probe();
    const { client, edge, port } = await startEdge(t, name, [
      hello,
      open('GET', '/stream', stream.pipeline),
      open('GET', '/slow', () => timer(50).pipe(map(() => text('slow')))),
    ]);
    const [streaming, slow, idle] = [await client(), await client(), await client()];
    t.equal(
      (await idle.send(request('GET', '/v1/hello')).response()).headers.connection ?? 'keep-alive',
      'keep-alive',
    );
    streaming.send(request('GET', '/v1/stream'));
    await stream.running();
    stream.reply(eventStream, bytes('data: 1\n\n'));
    slow.send(request('GET', '/v1/slow'));
    await eventually(() => edge.inFlight() === 2, 'two requests');

    let drained = false;
    const drain = edge.drain(10_000).then(() => {
      drained = true;
    });
    // Connections of the tick in which draining begins are still accepted.
    await turn();
    await turn();
    await t.rejects(RawClient.connect(port), 'no new connections');
    const last = await slow.response();
    t.equal(last.body, 'slow');
    t.equal(last.headers.connection, 'close', 'kept connections are told to end');
    await slow.disconnected();
    t.equal(drained, false);
    stream.reply(bytes('data: 2\n\n'));
    stream.complete();
    t.equal((await streaming.response()).body, 'data: 1\n\ndata: 2\n\n');
    await drain;
    t.equal(edge.inFlight(), 0);
    await idle.disconnected();
    await edge.drain(0);
  });

  await t.test('drain ends requests that do not finish in time', async (t) => {
    const stream = new Probe();
    const waiting = new Probe();
    const { client, edge } = await startEdge(t, name, [
      open('GET', '/stream', stream.pipeline),
      open('GET', '/waiting', waiting.pipeline),
    ]);
    const [streaming, patient] = [await client(), await client()];
    streaming.send(request('GET', '/v1/stream'));
    patient.send(request('GET', '/v1/waiting'));
    await stream.running();
    await waiting.running();
    stream.reply(eventStream, bytes('data: 1\n\n'));
    await streaming.received('data: 1');
    await edge.drain(20);
    t.equal(edge.inFlight(), 0);
    t.equal(stream.left, 1);
    t.equal(waiting.left, 1);
    const refused = await patient.response();
    t.equal(refused.status, 503);
    t.match(JSON.parse(refused.body), { error: { code: 503, message: 'The server is shutting down' } });
    await streaming.disconnected();
    t.notMatch(streaming.text, '\r\n0\r\n\r\n');
  });
};
