/** Where a request ends: malformed heads, and connections that close behind a chunked body. */
import { map, mergeMap, of } from 'rxjs';
import type { Test } from 'tap';
import type { Pipeline, Reply } from '../../../src/ports/exchange.ts';
import { startEdge } from '../../http/edge-fixture.ts';
import { request } from '../../http/raw-client.ts';
import { byteStream, bytes, eventStream, open, Probe, text } from './probe.ts';

const coding = { 'transfer-encoding': 'chunked' };
const chunks = '5\r\nhello\r\n0\r\n\r\n';
const large = 'x'.repeat(300_000);

/** Reads the body, then replies. */
const after =
  (...replies: Reply[]): Pipeline =>
  ({ body }) =>
    body.whole().pipe(mergeMap(() => of(...replies)));

export const framing = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  await t.test('a malformed head', async (t) => {
    const probe = new Probe();
    const { client, log } = await startEdge(t, name, [open('POST', '/probe', probe.pipeline)]);
    const connection = await client();
    connection.send(
      request('POST', '/v1/probe', { headers: { 'transfer-encoding': 'gzip, chunked' }, body: chunks }),
    );
    const response = await connection.response();
    t.equal(response.status, 400);
    t.equal(response.headers.connection, 'close');
    t.match(response.headers['x-request-id'], /^req_/);
    t.same(JSON.parse(response.body), {
      error: {
        code: 400,
        message: 'Transfer-Encoding must be "chunked", and nothing else',
        type: 'validation_error',
        param: null,
        metadata: { error_type: 'invalid_request' },
      },
    });
    // A request that is well-formed by itself, on a connection that is not to be trusted.
    connection.send(request('POST', '/v1/probe'));
    await connection.disconnected();
    t.equal(probe.started, 0, 'no pipeline was run');
    t.match(
      log.filter(({ status }) => status === 400),
      [{ method: 'POST', route: '/probe', status: 400, msg: 'request' }],
    );
  });

  await t.test('no header names the server', async (t) => {
    const { client } = await startEdge(t, name, [
      open('GET', '/text', () => of(text('hello'))),
      open('GET', '/events', () => of(eventStream, bytes('data: 1\n\n'))),
      open('GET', '/bytes', () => of(byteStream, bytes('hello'))),
    ]);
    for (const path of ['/v1/text', '/v1/events', '/v1/bytes', '/v1/nowhere']) {
      const { headers, body } = await (await client()).send(request('GET', path)).response();
      t.notOk('uwebsockets' in headers || 'server' in headers, path);
      t.notMatch(body.toLowerCase(), 'uwebsockets', path);
    }
  });

  await t.test('responses to chunked requests', async (t) => {
    const { client, edge } = await startEdge(t, name, [
      open('POST', '/text', after(text('hello'))),
      open('POST', '/large', after(text(large))),
      open('POST', '/empty', after(text('', 204))),
      open('POST', '/events', after(eventStream, bytes('data: 1\n\n'), bytes('data: 2\n\n'))),
      open('POST', '/no-events', after(eventStream)),
      open('POST', '/bytes', after(byteStream, bytes('hello '), bytes('world'))),
      open('POST', '/sized', after({ ...byteStream, length: 5 }, bytes('he'), bytes('llo'))),
      open('POST', '/early', () => of(text('early'))),
      open('POST', '/echo', ({ body }) => body.whole().pipe(map((all) => text(all)))),
    ]);
    const bodies = {
      '/v1/text': 'hello',
      '/v1/large': large,
      '/v1/empty': '',
      '/v1/events': 'data: 1\n\ndata: 2\n\n',
      '/v1/no-events': '',
      '/v1/bytes': 'hello world',
      '/v1/sized': 'hello',
      '/v1/early': 'early',
      '/v1/echo': 'hello',
    };
    for (const [path, body] of Object.entries(bodies)) {
      const connection = await client();
      const response = await connection
        .send(request('POST', path, { headers: coding, body: chunks }))
        .response();
      t.equal(response.body, body, path);
      if (name === 'node') continue;
      t.equal(response.headers.connection, 'close', path);
      connection.send(request('POST', '/v1/text'));
      await connection.disconnected();
      t.equal(connection.text.trim(), '', `${path}: nothing more is read from the connection`);
    }
    t.equal(edge.inFlight(), 0);
  });

  await t.test('a slow reader of a response to a chunked request', async (t) => {
    const much = Buffer.alloc(8_000_000, 'x');
    const { client } = await startEdge(t, name, [open('POST', '/much', after(text(much)))]);
    const connection = await client();
    connection.socket.pause();
    connection.send(request('POST', '/v1/much', { headers: coding, body: chunks }));
    await new Promise((resolve) => setTimeout(resolve, 600));
    connection.socket.resume();
    t.equal((await connection.response()).body.length, much.length, 'gets all of it');
  });

  // uWebSockets.js gives up the connection, at once or when it has waited for the rest.
  if (name === 'uws') return;
  await t.test('something malformed behind a request that has no response yet', async (t) => {
    const probe = new Probe();
    const { client } = await startEdge(t, name, [open('POST', '/slow', probe.pipeline)]);
    const connection = await client();
    connection.send(
      Buffer.concat([request('POST', '/v1/slow', { body: 'a' }), Buffer.from('garbage\r\n\r\n')]),
    );
    await probe.running(1);
    probe.reply(text('first'));
    probe.complete();
    t.equal((await connection.response()).body, 'first');
    t.equal((await connection.response()).status, 400);
    await connection.disconnected();
  });
};
