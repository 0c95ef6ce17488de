/** Responses, streams, failures and the headers that all of them have. */
import { concat, EMPTY, of, throwError } from 'rxjs';
import type { Test } from 'tap';
import { fail } from '../../../src/errors.ts';
import { type Head, jsonReply } from '../../../src/ports/exchange.ts';
import { envelope } from '../../envelope.ts';
import { eventually } from '../../eventually.ts';
import { goodKey, slowKey, startEdge } from '../../http/edge-fixture.ts';
import { type RawClient, request } from '../../http/raw-client.ts';
import { byteStream, bytes, eventStream, keyed, open, Probe, text } from './probe.ts';

const commonHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'x-request-id, request-id, retry-after, x-should-retry, x-usage-seconds, x-usage-cost, x-stream-id, *',
};

export const responses = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  await t.test('a chunked response', async (t) => {
    const small = ['{"a":"', Buffer.from('wörld 水'), '","é":"', Buffer.from('x'), '"}'];
    const large = ['[', Buffer.from('"水"'), `,"${'é'.repeat(300_000)}"]`];
    const pieces = (body: (string | Buffer)[]) => () =>
      of({ kind: 'whole' as const, status: 200, headers: {}, body });
    const { client } = await startEdge(t, name, [
      open('GET', '/small', pieces(small)),
      open('GET', '/large', pieces(large)),
    ]);
    const connection = await client();
    for (const [path, body] of [
      ['/v1/small', small.join('')],
      ['/v1/large', large.join('')],
    ] as const) {
      const whole = await connection.send(request('GET', path)).response();
      t.equal(whole.body, body);
      const length = String(Buffer.byteLength(body));
      t.equal(whole.headers['content-length'], length);
      const head = await connection.send(request('HEAD', path)).response({ head: true });
      t.equal(head.headers['content-length'], length);
    }
  });

  await t.test('a whole response', async (t) => {
    const { client } = await startEdge(t, name, [
      open('GET', '/hello', () => of(jsonReply({ hello: 'wörld' }, 201, { 'x-extra': 'a\r\nx-evil: b' }))),
      open('GET', '/none', () => of({ kind: 'whole', status: 204, headers: {}, body: '' })),
    ]);
    const connection = await client();
    const first = await connection.send(request('GET', '/v1/hello')).response();
    t.equal(first.status, 201);
    t.same(JSON.parse(first.body), { hello: 'wörld' });
    t.match(first.headers, {
      ...commonHeaders,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(first.body)),
      'x-request-id': /^req_[0-9a-f]{24}[0-9a-z]+$/,
    });
    t.equal(first.headers['request-id'], first.headers['x-request-id']);
    t.equal(first.headers['x-evil'], undefined, 'a header value cannot add headers');

    const second = await connection.send(request('GET', '/v1/hello')).response();
    t.not(second.headers['x-request-id'], first.headers['x-request-id']);

    const none = await connection.send(request('GET', '/v1/none')).response();
    t.equal(none.status, 204);
    t.equal(none.headers['content-length'], undefined);
    t.match(none.headers, commonHeaders);
    t.equal(
      (await connection.send(request('GET', '/v1/hello')).response()).status,
      201,
      'the connection goes on',
    );
  });

  await t.test('HEAD has the headers of GET and no body', async (t) => {
    const probe = new Probe();
    const { client } = await startEdge(t, name, [
      open('GET', '/hello', () => of(text('hello'))),
      open('GET', '/stream', probe.pipeline),
      open('GET', '/broken', () => throwError(() => fail('not_found', 'gone'))),
    ]);
    const connection = await client();
    const head = await connection.send(request('HEAD', '/v1/hello')).response({ head: true });
    t.equal(head.status, 200);
    t.match(head.headers, { 'content-length': '5', 'content-type': 'text/plain', ...commonHeaders });
    t.equal((await connection.send(request('GET', '/v1/hello')).response()).body, 'hello');

    const broken = await connection.send(request('HEAD', '/v1/broken')).response({ head: true });
    t.equal(broken.status, 404);

    connection.send(request('HEAD', '/v1/stream'));
    await probe.running();
    probe.reply(eventStream, bytes('data: 1\n\n'));
    const stream = await connection.response({ head: true });
    t.equal(stream.headers['content-type'], 'text/event-stream');
    t.equal(stream.headers['content-length'], undefined);
    await probe.stopped();
    t.equal((await connection.send(request('GET', '/v1/hello')).response()).body, 'hello');
  });

  await t.test('a stream', async (t) => {
    const probe = new Probe();
    const { client, edge } = await startEdge(t, name, [open('GET', '/stream', probe.pipeline)]);
    const connection = await client();
    connection.send(request('GET', '/v1/stream'));
    await probe.running();
    probe.reply(eventStream, bytes('data: 1\n\n'));
    await connection.received('data: 1\n\n');
    t.notMatch(connection.text, 'keep-alive\n', 'a head that has bytes goes out with them alone');
    probe.reply(bytes(Buffer.from('data: 2\n\n')), bytes('data: ü\n\n'));
    await connection.received('data: 2\n\n');
    t.equal(edge.inFlight(), 1);
    probe.complete();
    const response = await connection.response();
    t.equal(response.status, 200);
    t.match(response.headers, {
      'content-type': 'text/event-stream',
      'transfer-encoding': 'chunked',
      ...commonHeaders,
    });
    t.equal(response.body, 'data: 1\n\ndata: 2\n\ndata: ü\n\n');
    await eventually(() => edge.inFlight() === 0, 'nothing in flight');

    connection.send(request('GET', '/v1/stream'));
    await probe.running(2);
    probe.reply(byteStream);
    probe.complete();
    t.equal((await connection.response()).body, '', 'a stream may be empty');
  });

  await t.test('headers are sent when the key lookup is asynchronous, with a body too', async (t) => {
    const probe = new Probe();
    const { client } = await startEdge(t, name, [keyed('GET', '/file', probe.pipeline)]);
    const headers = {
      authorization: `Bearer ${slowKey}`,
      range: 'bytes=2-7',
      'anthropic-version': '2023-06-01',
      'user-agent': 'test',
      'content-type': 'text/plain',
    };
    const connection = await client();
    for (const [index, body] of [undefined, 'x'].entries()) {
      connection.send(request('GET', '/v1/file', { headers, ...(body === undefined ? {} : { body }) }));
      await probe.running(index + 1);
      for (const name of ['range', 'anthropic-version', 'user-agent', 'content-type'] as const)
        t.equal(probe.exchange?.header(name), headers[name]);
      probe.reply(text('done'));
      probe.complete();
      t.equal((await connection.response()).status, 200);
    }
  });

  await t.test('a stream of known length', async (t) => {
    const probe = new Probe();
    const { client, edge, log } = await startEdge(t, name, [open('GET', '/file', probe.pipeline)]);
    const file = (length: number, status = 200): Head => ({
      kind: 'head',
      status,
      headers: { 'content-type': 'video/mp4' },
      length,
    });
    let asked = 0;
    const ask = async (connection: RawClient, method = 'GET') => {
      connection.send(request(method, '/v1/file', { headers: { range: 'bytes=2-7' } }));
      await probe.running(++asked);
    };
    const connection = await client();
    await ask(connection);
    t.equal(probe.exchange?.header('range'), 'bytes=2-7');
    probe.reply(file(6, 206), bytes('ab'));
    await connection.received('ab');
    probe.reply(bytes(Buffer.from('c')), bytes('\u00fcd'));
    probe.complete();
    const part = await connection.response();
    t.equal(part.status, 206);
    t.match(part.headers, { 'content-type': 'video/mp4', 'content-length': '6', ...commonHeaders });
    t.equal(part.headers['transfer-encoding'], undefined);
    t.equal(part.body, 'abc\u00fcd');

    await ask(connection, 'HEAD');
    probe.reply(file(123_456_789));
    const head = await connection.response({ head: true });
    t.equal(head.headers['content-length'], '123456789');
    await probe.stopped(asked);

    await ask(connection);
    probe.reply(file(0));
    probe.complete();
    t.match(await connection.response(), { headers: { 'content-length': '0' }, body: '' });

    await ask(connection);
    probe.reply(file(3));
    // The library of Node 22 and later cannot send it alone.
    if (name === 'node' || Number(process.versions.modules) < 127)
      await eventually(() => /content-length: 3\r/i.test(connection.text), 'the head alone');
    probe.reply(bytes('end'));
    t.equal((await connection.response()).body, 'end', 'whole before its source says so');
    t.equal(probe.left, asked - 1);
    probe.complete();
    await eventually(() => edge.inFlight() === 0, 'nothing in flight');
    t.equal(log.filter(({ level }) => level === 50).length, 0);

    for (const [content, message] of [
      ['ab', 'The stream is shorter than it said'],
      ['abcd', 'The stream is longer than it said'],
    ]) {
      const cut = await client();
      await ask(cut);
      probe.reply(file(3), bytes(content ?? ''));
      probe.complete();
      await cut.disconnected();
      await eventually(() => log.at(-1)?.cut === 'failed', 'its line');
      t.match(
        log.findLast(({ level }) => level === 50),
        { err: { message } },
      );
    }
    t.equal(edge.inFlight(), 0);
  });

  await t.test('the head of an event stream is sent before its first chunk', async (t) => {
    const probe = new Probe();
    const { client } = await startEdge(t, name, [open('GET', '/stream', probe.pipeline)]);
    const connection = await client();
    connection.send(request('GET', '/v1/stream'));
    await probe.running();
    probe.reply(eventStream);
    await connection.received(': keep-alive\n\n');
    t.match(connection.text, /^HTTP\/1.1 200 OK\r\n/);
  });

  await t.test('failures before the head', async (t) => {
    const { client, log } = await startEdge(t, name, [
      open('GET', '/limited', () =>
        throwError(() => fail('rate_limited', 'Slow down', { headers: { 'retry-after': '7' } })),
      ),
      open('GET', '/throws', () => {
        throw new Error('secret inside');
      }),
      open('GET', '/errors', () => throwError(() => new Error('secret inside'))),
      open('GET', '/silent', () => EMPTY),
      open('GET', '/headless', () => of(bytes('x'))),
      { ...open('GET', '/messages', () => throwError(() => fail('overloaded', 'Busy'))), errors: 'messages' },
    ]);
    const connection = await client();
    const ask = (path: string) => connection.send(request('GET', `/v1${path}`)).response();

    const limited = await ask('/limited');
    t.equal(limited.status, 429);
    t.match(limited.headers, { 'retry-after': '7', 'content-type': 'application/json', ...commonHeaders });
    t.same(JSON.parse(limited.body), envelope(429, 'Slow down', 'rate_limit_error', 'rate_limit_exceeded'));

    for (const path of ['/throws', '/errors', '/silent', '/headless']) {
      log.length = 0;
      const response = await ask(path);
      t.equal(response.status, 500, path);
      t.same(JSON.parse(response.body), envelope(500, 'Internal server error', 'server_error', 'server'));
      await eventually(() => log.some((line) => line.level === 50), `an error line for ${path}`);
      const line = log.find(({ level }) => level === 50);
      t.match(line, { request_id: response.headers['x-request-id'], err: { message: String }, route: path });
    }

    const overloaded = await ask('/messages');
    t.equal(overloaded.status, 529);
    t.same(JSON.parse(overloaded.body), {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Busy' },
      request_id: overloaded.headers['request-id'],
    });
  });

  await t.test('a failure after the head cuts the connection', async (t) => {
    const probe = new Probe();
    const { client, log } = await startEdge(t, name, [open('GET', '/stream', probe.pipeline)]);
    const connection = await client();
    connection.send(request('GET', '/v1/stream'));
    await probe.running();
    probe.reply(eventStream, bytes('data: 1\n\n'));
    await connection.received('data: 1\n\n');
    probe.subscriber?.error(new Error('engine exploded'));
    await connection.disconnected();
    t.notMatch(connection.text, '\r\n0\r\n', 'the body is visibly not complete');
    t.match(
      log.find(({ level }) => level === 50),
      { err: { message: 'engine exploded' } },
    );
    t.equal(probe.left, 1);
  });

  await t.test('a whole stream in one tick', async (t) => {
    const { client } = await startEdge(t, name, [
      open('GET', '/whole', () => of(eventStream, bytes('data: 1\n\n'), bytes('data: 2\n\n'))),
      open('GET', '/broken', () =>
        concat(
          of(eventStream, bytes('data: 1\n\n')),
          throwError(() => new Error('broken')),
        ),
      ),
      open('GET', '/twice', () => of(eventStream, text('and an answer'))),
      open('GET', '/late', () => of(text('answered'), eventStream, bytes('more'))),
    ]);
    const connection = await client();
    const whole = await connection.send(request('GET', '/v1/whole')).response();
    t.equal(whole.body, 'data: 1\n\ndata: 2\n\n');
    t.equal((await connection.send(request('GET', '/v1/late')).response()).body, 'answered');
    for (const path of ['/v1/broken', '/v1/twice']) {
      const cut = await client();
      await cut.send(request('GET', path)).disconnected();
      t.notMatch(cut.text, '\r\n0\r\n', path);
    }
    t.equal((await connection.send(request('GET', '/v1/late')).response()).body, 'answered');
  });

  await t.test('the log has one line a request and no secrets', async (t) => {
    const { client, log } = await startEdge(t, name, [open('GET', '/things/{id}', () => of(text('four')))]);
    const connection = await client();
    const headers = { authorization: `Bearer ${goodKey}` };
    const response = await connection
      .send(request('GET', '/v1/things/secret-name?token=secret-query', { headers }))
      .response();
    await eventually(() => log.length === 1, 'a line');
    const { time, pid, hostname, ms, ...line } = log[0] ?? {};
    t.type(ms, 'number');
    t.same(line, {
      level: 30,
      request_id: response.headers['x-request-id'],
      method: 'GET',
      route: '/things/{id}',
      status: 200,
      bytes: 4,
      msg: 'request',
    });
    t.notMatch(JSON.stringify(log), /secret|sk-/);
  });
};
