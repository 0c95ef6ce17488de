/** Memory of request bodies: tiny chunks, bodies that wait for memory, refusals and their metrics. */
import { last, map, Subject, switchMap, take, tap } from 'rxjs';
import type { Test } from 'tap';
import { Backpressure } from '../../../src/ports/backpressure.ts';
import { jsonReply, type Pipeline } from '../../../src/ports/exchange.ts';
import { eventually } from '../../eventually.ts';
import { type EdgeFixture, goodKey, otherKey, startEdge } from '../../http/edge-fixture.ts';
import { type RawClient, request } from '../../http/raw-client.ts';
import { keyed } from './probe.ts';

const kib = 1024;
const own = { authorization: `Bearer ${goodKey}` };
const other = { authorization: `Bearer ${otherKey}` };
const chunkedBody = { 'transfer-encoding': 'chunked' };

const chunks = (piece: string, count: number): string =>
  `${piece.length.toString(16)}\r\n${piece}\r\n`.repeat(count);

const size: Pipeline = ({ body }) =>
  body
    .whole()
    .pipe(
      map((bytes) => jsonReply({ bytes: bytes.length, end: bytes.toString('latin1', bytes.length - 3) })),
    );

const metric = ({ edge }: EdgeFixture, name: string): Record<string, number> =>
  Object.fromEntries(
    (edge.families().find((family) => family.name === name)?.samples ?? []).map(({ labels, value }) => [
      Object.values(labels)[0] ?? '',
      value,
    ]),
  );

export const bodyMemory = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  await t.test('chunks of a few bytes', async (t) => {
    const { client } = await startEdge(t, name, [keyed('POST', '/size', size, 4 * kib * kib)]);
    const send = async (body: string) =>
      (await client())
        .send(request('POST', '/v1/size', { headers: { ...own, ...chunkedBody }, body }))
        .response();
    t.same(
      JSON.parse((await send(`${chunks('x', 3999)}3\r\nend\r\n0\r\n\r\n`)).body),
      { bytes: 4002, end: 'end' },
      'a short body may come as it likes',
    );
    t.same(JSON.parse((await send(`${chunks('0123456789abcdefghij'.repeat(4), 25_000)}0\r\n\r\n`)).body), {
      bytes: 2_000_000,
      end: 'hij',
    });
    const refused = await send(chunks('x', 20_000));
    t.equal(refused.status, 400);
    t.same(JSON.parse(refused.body), {
      error: {
        code: 400,
        message: 'Chunks of the request body must have more than 64 bytes on average',
        type: 'validation_error',
        param: null,
        metadata: { error_type: 'invalid_request' },
      },
    });
  });

  await t.test('small chunks are joined for a reader of chunks', async (t) => {
    const sizes: number[] = [];
    const read: Pipeline = ({ body }) =>
      body.chunks(new Backpressure()).pipe(
        tap((chunk) => sizes.push(chunk.length)),
        last(),
        map(() => jsonReply(sizes)),
      );
    const { client } = await startEdge(t, name, [keyed('POST', '/read', read, 4 * kib * kib)]);
    const body = `${chunks('x'.repeat(100), 1000)}0\r\n\r\n`;
    const { status } = await (await client())
      .send(request('POST', '/v1/read', { headers: { ...own, ...chunkedBody }, body }))
      .response();
    t.equal(status, 200);
    t.equal(
      sizes.reduce((sum, each) => sum + each, 0),
      100_000,
    );
    t.ok(sizes.length <= 8, `${sizes}`);
  });

  await t.test('large bodies wait for memory', async (t) => {
    const admitted = new Subject<void>();
    const ended = new Subject<void>();
    let running = 0;
    const hold: Pipeline = ({ body }) =>
      body.whole().pipe(
        switchMap((bytes) => {
          running++;
          return admitted.pipe(
            take(1),
            switchMap(() => {
              body.admitted();
              return ended.pipe(
                take(1),
                map(() => jsonReply({ bytes: bytes.length })),
              );
            }),
          );
        }),
      );
    const fixture = await startEdge(t, name, [keyed('POST', '/hold', hold, 256 * kib)], {
      tickMs: 20,
      bodyBytes: 512 * kib,
      bodyBytesPerSubscription: 256 * kib,
      bodyWaitMs: 60_000,
    });
    const send = async (headers: Record<string, string>, bytes: number): Promise<RawClient> =>
      (await fixture.client()).send(request('POST', '/v1/hold', { headers, body: Buffer.alloc(bytes, 'x') }));
    const first = await send(own, 256 * kib);
    const larger = await send(own, 80 * kib);
    await eventually(() => running === 2, 'the first bodies');
    const second = await send(own, 200 * kib);
    const gathered = await send({ ...own, ...chunkedBody }, 0);
    gathered.send(`${chunks('x'.repeat(1000), 120)}0\r\n\r\n`);
    await eventually(() => metric(fixture, 'sluice_http_body_waiting')[''] === 2, 'two to wait');
    const small = await send(own, 60 * kib);
    const foreign = await send(other, 200 * kib);
    await eventually(() => running === 4, 'a small body and one of another subscription');
    t.same(
      metric(fixture, 'sluice_http_body_bytes'),
      { unadmitted: (256 - 64 + 80 - 64 + 200 - 64) * kib, admitted: 0 },
      'the first 64 KiB of each are not counted',
    );
    admitted.next();
    await eventually(() => running === 6, 'those that waited, once the first is admitted');
    t.equal(metric(fixture, 'sluice_http_body_bytes').admitted, (256 - 64 + 80 - 64 + 200 - 64) * kib);
    admitted.next();
    ended.next();
    const answers = [];
    for (const client of [first, larger, second, gathered, small, foreign])
      answers.push(JSON.parse((await client.response()).body));
    t.same(
      answers.map(({ bytes }) => bytes),
      [256 * kib, 80 * kib, 200 * kib, 120_000, 60 * kib, 200 * kib],
    );
    t.same(metric(fixture, 'sluice_http_body_bytes'), { unadmitted: 0, admitted: 0 });
    t.same(metric(fixture, 'sluice_http_body_waits_total'), { '': 2 });
    t.same(metric(fixture, 'sluice_http_body_refusals_total'), { subscription: 0, total: 0 });
  });

  await t.test('bodies that wait too long are refused', async (t) => {
    const fixture = await startEdge(t, name, [keyed('POST', '/size', size, 200 * kib)], {
      tickMs: 20,
      bodyBytes: 250 * kib,
      bodyBytesPerSubscription: 200 * kib,
      bodyWaitMs: 200,
    });
    const headers = { ...own, 'content-length': String(200 * kib) };
    const slow = await fixture.client();
    slow.send(request('POST', '/v1/size', { headers, body: 'x' }));
    await eventually(() => (metric(fixture, 'sluice_http_body_bytes').unadmitted ?? 0) > 0, 'the first body');
    const ask = async (key: Record<string, string>) =>
      (await fixture.client())
        .send(request('POST', '/v1/size', { headers: key, body: Buffer.alloc(190 * kib) }))
        .response();
    const ownRefusal = await ask(own);
    t.equal(ownRefusal.status, 429);
    t.equal(ownRefusal.headers['retry-after'], '10');
    t.same(JSON.parse(ownRefusal.body), {
      error: {
        code: 429,
        message: 'Too many large request bodies of this subscription are on their way; retry later',
        type: 'rate_limit_error',
        param: null,
        metadata: { error_type: 'rate_limit_exceeded' },
      },
    });
    const refusal = await ask(other);
    t.equal(refusal.status, 503);
    t.equal(refusal.headers['retry-after'], '5');
    t.same(JSON.parse(refusal.body), {
      error: {
        code: 503,
        message: 'Too many large request bodies are on their way; retry later',
        type: 'server_error',
        param: null,
        metadata: { error_type: 'provider_overloaded' },
      },
    });
    t.same(metric(fixture, 'sluice_http_body_refusals_total'), { subscription: 1, total: 1 });
    slow.socket.destroy();
    await eventually(() => metric(fixture, 'sluice_http_body_bytes').unadmitted === 0, 'its memory');
    t.equal((await ask(other)).status, 200, 'a client that disconnects gives its memory back');
  });

  await t.test('a large body has so much time', async (t) => {
    const { client } = await startEdge(t, name, [keyed('POST', '/size', size, 200 * kib)], {
      tickMs: 20,
      bodyTotalMs: 300,
      bodyMinBytesPerSecond: 1,
    });
    const connection = await client();
    connection.send(
      request('POST', '/v1/size', { headers: { ...own, 'content-length': String(200 * kib) } }),
    );
    const drip = setInterval(() => connection.send('x'.repeat(100)), 20);
    const late = await connection.response();
    clearInterval(drip);
    t.equal(late.status, 400);
    t.match(JSON.parse(late.body), {
      error: { message: 'The request body did not arrive within 0.3 s' },
    });
  });

  await t.test('without a valid key no body is read', async (t) => {
    const fixture = await startEdge(t, name, [keyed('POST', '/size', size, 64 * kib * kib)]);
    const connection = await fixture.client();
    connection.send(request('POST', '/v1/size', { headers: { 'content-length': String(64 * kib * kib) } }));
    for (let sent = 0; sent < 64; sent++) connection.send(Buffer.alloc(kib * kib));
    t.equal((await connection.response()).status, 401);
    t.equal(metric(fixture, 'sluice_http_held_bytes')['request bodies'], 0);
    await connection.disconnected();
    t.ok(connection.socket.writableLength > 0 || connection.errorCode !== '', 'the rest was not read');
  });
};
