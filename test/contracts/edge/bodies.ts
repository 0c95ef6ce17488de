/** Request bodies: whole, chunked, too large, too slow and unread. */
import { map, of, type Subscription, switchMap } from 'rxjs';
import type { Test } from 'tap';
import { Backpressure } from '../../../src/ports/backpressure.ts';
import { jsonReply, type Pipeline } from '../../../src/ports/exchange.ts';
import { eventually } from '../../eventually.ts';
import { goodKey, slowKey, startEdge } from '../../http/edge-fixture.ts';
import { request, settled } from '../../http/raw-client.ts';
import { keyed, open, Probe, text } from './probe.ts';

const size: Pipeline = ({ body }) =>
  body
    .whole()
    .pipe(
      map((bytes) =>
        jsonReply({ length: body.length ?? null, bytes: bytes.length, text: bytes.toString('utf8', 0, 20) }),
      ),
    );

const chunked = (...pieces: string[]): string =>
  `${pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`;

const key = { authorization: `Bearer ${goodKey}` };

export const bodies = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  await t.test('whole bodies', async (t) => {
    const { client } = await startEdge(t, name, [open('POST', '/size', size), keyed('POST', '/keyed', size)]);
    let connection = await client();
    const ask = async (sent: string | Buffer) => {
      const response = await connection.send(sent).response();
      // uWebSockets.js closes the connection behind a chunked request.
      if (response.headers.connection === 'close') connection = await client();
      return JSON.parse(response.body) as unknown;
    };
    t.same(await ask(request('POST', '/v1/size', { body: 'hello' })), { length: 5, bytes: 5, text: 'hello' });
    t.same(await ask(request('POST', '/v1/size', { body: '' })), { length: 0, bytes: 0, text: '' });
    t.same(await ask(request('POST', '/v1/size')), { length: 0, bytes: 0, text: '' });
    const coding = { 'transfer-encoding': 'chunked' };
    t.same(
      await ask(request('POST', '/v1/size', { headers: coding, body: chunked('hel', 'lo ', 'wörld') })),
      { length: null, bytes: 12, text: 'hello wörld' },
    );
    t.same(await ask(request('POST', '/v1/size', { headers: coding, body: chunked() })), {
      length: null,
      bytes: 0,
      text: '',
    });
    const large = 'x'.repeat(3_000_000);
    t.same(await ask(request('POST', '/v1/size', { body: large })), {
      length: 3_000_000,
      bytes: 3_000_000,
      text: 'x'.repeat(20),
    });
    t.same(
      await ask(
        request('POST', '/v1/size', {
          headers: coding,
          body: chunked(...Array<string>(30).fill('y'.repeat(100_000))),
        }),
      ),
      { length: null, bytes: 3_000_000, text: 'y'.repeat(20) },
    );
    const late = { authorization: `Bearer ${slowKey}` };
    t.same(
      await ask(request('POST', '/v1/keyed', { headers: late, body: 'arrived before the key was known' })),
      { length: 32, bytes: 32, text: 'arrived before the k' },
    );
    t.same(
      await ask(
        request('POST', '/v1/keyed', { headers: { ...late, ...coding }, body: chunked('a', 'b', 'c') }),
      ),
      {
        length: null,
        bytes: 3,
        text: 'abc',
      },
    );
  });

  // All but the first line: uWebSockets.js 20.41 takes a first line in pieces for an unknown version of HTTP.
  await t.test('a request in single bytes', async (t) => {
    const { client } = await startEdge(t, name, [open('POST', '/size', size)]);
    for (const sent of [
      request('POST', '/v1/size', { body: 'hello' }),
      request('POST', '/v1/size', {
        headers: { 'transfer-encoding': 'chunked' },
        body: chunked('he', 'llo'),
      }),
    ]) {
      const connection = await client();
      connection.socket.setNoDelay(true);
      const line = name === 'uws' ? sent.indexOf('\n') + 1 : 1;
      connection.send(sent.subarray(0, line));
      for (const byte of sent.subarray(line)) {
        connection.send(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      t.match(JSON.parse((await connection.response()).body), { bytes: 5, text: 'hello' });
    }
  });

  await t.test('pipelined requests', async (t) => {
    const { client } = await startEdge(t, name, [
      open('POST', '/size', size),
      open('GET', '/now', () => of(text('now'))),
    ]);
    const connection = await client();
    connection.send(
      Buffer.concat([
        request('GET', '/v1/now'),
        request('POST', '/v1/size', { body: 'one' }),
        request('POST', '/v1/size', { body: 'three' }),
        request('GET', '/v1/now'),
      ]),
    );
    t.equal((await connection.response()).body, 'now');
    t.match(JSON.parse((await connection.response()).body), { text: 'one' });
    t.match(JSON.parse((await connection.response()).body), { text: 'three' });
    t.equal((await connection.response()).body, 'now');
  });

  await t.test('a request behind one that has no response yet', async (t) => {
    const probe = new Probe();
    const { client } = await startEdge(t, name, [open('GET', '/slow', probe.pipeline)]);
    const connection = await client();
    connection.send(Buffer.concat([request('GET', '/v1/slow'), request('GET', '/v1/slow')]));
    await probe.running(name === 'uws' ? 1 : 2);
    // uWebSockets.js does not pipeline: it ends the connection, and the client asks again.
    if (name === 'uws') await connection.disconnected();
    else connection.socket.destroy();
    await probe.stopped(name === 'uws' ? 1 : 2);
  });

  await t.test('bodies over the limit', async (t) => {
    const { client } = await startEdge(t, name, [keyed('POST', '/keyed', size, 1000)]);
    const tooLarge = {
      error: {
        code: 413,
        message: 'Request body is larger than the limit of 1000 bytes',
        type: 'invalid_request_error',
        param: null,
        metadata: { error_type: 'payload_too_large' },
      },
    };
    const fits = await (await client())
      .send(request('POST', '/v1/keyed', { headers: key, body: 'x'.repeat(1000) }))
      .response();
    t.match(JSON.parse(fits.body), { bytes: 1000 });

    const slightly = await client();
    const over = await slightly
      .send(request('POST', '/v1/keyed', { headers: key, body: 'x'.repeat(1001) }))
      .response();
    t.equal(over.status, 413);
    t.same(JSON.parse(over.body), tooLarge);
    const next = await slightly.send(request('POST', '/v1/keyed', { headers: key, body: 'ok' })).response();
    t.equal(next.status, 200, 'a little too much is let pass, and the connection goes on');

    const declared = await client();
    const headers = { ...key, 'content-length': '100000000' };
    const early = await declared.send(request('POST', '/v1/keyed', { headers })).response();
    t.equal(early.status, 413, 'before a byte of it is sent');
    t.equal(early.headers.connection, 'close');
    t.same(JSON.parse(early.body), tooLarge);
    await declared.disconnected();

    const counted = await client();
    counted.send(
      request('POST', '/v1/keyed', { headers: { ...key, 'transfer-encoding': 'chunked' }, body: '' }),
    );
    counted.send(`fa0\r\n${'x'.repeat(4000)}\r\n`);
    const cut = await counted.response();
    t.equal(cut.status, 413, 'while counting');
    t.same(JSON.parse(cut.body), tooLarge);
    await counted.disconnected();

    const badKey = await client();
    const refused = await badKey
      .send(request('POST', '/v1/keyed', { headers: { 'content-length': '100000000' } }))
      .response();
    t.equal(refused.status, 401, 'the key comes first');
    await badKey.disconnected();
  });

  await t.test('a client that keeps sending still gets the early response', async (t) => {
    const { client } = await startEdge(t, name, [keyed('POST', '/keyed', size, 1000)]);
    const connection = await client();
    connection.send(request('POST', '/v1/keyed', { headers: { ...key, 'content-length': '20000000' } }));
    connection.send(Buffer.alloc(20_000_000));
    t.equal((await connection.response()).status, 413);
    await connection.disconnected();
    t.ok(
      connection.socket.bytesWritten < 20_000_000 ||
        connection.socket.writableLength > 0 ||
        connection.errorCode !== '',
      'the rest was not read',
    );
  });

  await t.test('an unread body', async (t) => {
    const { client } = await startEdge(t, name, [open('POST', '/deaf', () => of(text('done')))]);
    const connection = await client();
    t.equal(
      (await connection.send(request('POST', '/v1/deaf', { body: 'x'.repeat(50_000) })).response()).body,
      'done',
    );
    t.equal((await connection.send(request('POST', '/v1/deaf', { body: 'again' })).response()).body, 'done');
    const nowhere = await connection.send(request('POST', '/v1/nowhere', { body: '{"a":1}' })).response();
    t.equal(nowhere.status, 404);
    t.equal((await connection.send(request('POST', '/v1/deaf')).response()).body, 'done');
  });

  await t.test('Expect: 100-continue', async (t) => {
    const { client } = await startEdge(t, name, [keyed('POST', '/keyed', size)]);
    const connection = await client();
    connection.send(
      request('POST', '/v1/keyed', { headers: { ...key, expect: '100-continue', 'content-length': '5' } }),
    );
    t.equal((await connection.response()).status, 100);
    t.match(JSON.parse((await connection.send('hello').response()).body), { text: 'hello' });
  });

  await t.test('a paused consumer pauses the sender', async (t) => {
    const backpressure = new Backpressure();
    const probe = new Probe();
    let received = 0;
    let ended = false;
    let reading: Subscription | undefined;
    const { client } = await startEdge(t, name, [open('POST', '/upload', probe.pipeline, 200_000_000)]);
    const connection = await client();
    const total = 40_000_000;
    connection.send(request('POST', '/v1/upload', { headers: { 'content-length': String(total) } }));
    await probe.running();
    const sent = connection.socket.bytesWritten;
    for (let at = 0; at < total; at += 1_000_000) connection.send(Buffer.alloc(1_000_000));
    reading = probe.exchange?.body.chunks(backpressure).subscribe({
      next: (chunk) => {
        received += chunk.length;
        if (received > 1_000_000 && !backpressure.paused && !ended) backpressure.pause();
      },
      complete: () => {
        ended = true;
      },
    });
    t.teardown(() => reading?.unsubscribe());
    await eventually(() => backpressure.paused, 'the consumer to pause');
    const held = received;
    await settled(() => connection.socket.bytesWritten - connection.socket.writableLength);
    t.equal(received, held, 'nothing is handed over while paused');
    t.ok(connection.socket.writableLength > total / 2, `most of it is still with the sender (${sent})`);
    received = -Number.MAX_SAFE_INTEGER / 2;
    backpressure.resume();
    await eventually(() => ended, 'the rest of the body');
    t.equal(received + Number.MAX_SAFE_INTEGER / 2 + held, total, 'every byte once');
    probe.reply(text('thanks'));
    probe.complete();
    t.equal((await connection.response()).body, 'thanks');
  });

  await t.test('a client that disconnects during its upload', async (t) => {
    const probe = new Probe();
    const { client, edge } = await startEdge(t, name, [
      open('POST', '/upload', (exchange) => exchange.body.whole().pipe(switchMap(() => of(text('never'))))),
      open('POST', '/probe', probe.pipeline),
    ]);
    for (const path of ['/v1/upload', '/v1/probe']) {
      const connection = await client();
      connection.send(request('POST', path, { headers: { 'content-length': '5000' }, body: 'part' }));
      await eventually(() => edge.inFlight() === 1, 'the request');
      connection.socket.destroy();
      await eventually(() => edge.inFlight() === 0, 'the request to be forgotten');
    }
    t.equal(probe.left, 1);
  });

  await t.test('slow bodies', async (t) => {
    const limits = { tickMs: 20, bodyMinBytesPerSecond: 1000 };
    const start = async (bodyIdleMs: number) =>
      (await startEdge(t, name, [open('POST', '/size', size)], { ...limits, bodyIdleMs })).client;
    const silent = await (await start(200))();
    silent.send(request('POST', '/v1/size', { headers: { 'content-length': '100' }, body: 'x' }));
    const quiet = await silent.response();
    t.equal(quiet.status, 400);
    t.match(JSON.parse(quiet.body), {
      error: { code: 400, message: 'No byte of the request body arrived for 0.2 s' },
    });

    // Never silent for as long, even on a busy machine.
    const client = await start(2_000);
    const trickling = await client();
    trickling.send(request('POST', '/v1/size', { headers: { 'content-length': '100000' } }));
    const drip = setInterval(() => trickling.send('x'), 20);
    const slow = await trickling.response();
    clearInterval(drip);
    t.equal(slow.status, 400);
    t.match(JSON.parse(slow.body), {
      error: { message: 'The request body arrived more slowly than 1000 bytes per second' },
    });

    const tiring = await client();
    tiring.send(request('POST', '/v1/size', { headers: { 'content-length': '1000000' } }));
    tiring.send(Buffer.alloc(500_000));
    const rest = setInterval(() => tiring.send('x'), 20);
    const tired = await tiring.response();
    clearInterval(rest);
    t.match(
      JSON.parse(tired.body),
      { error: { message: 'The request body arrived more slowly than 1000 bytes per second' } },
      'a fast beginning does not pay for a slow end',
    );
  });
};
