/**
 * Tests that idle streams and paused readers outlive the default timeouts of uWebSockets.js.
 * These are 10 to 14 s; connections without such a reason are closed.
 */
import { of } from 'rxjs';
import t from 'tap';
import { eagerSource, total } from '../contracts/edge/flow.ts';
import { byteStream, bytes, open, Probe, text } from '../contracts/edge/probe.ts';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { startEdge } from './edge-fixture.ts';
import { request } from './raw-client.ts';
import { servers } from './servers.ts';

t.test('patience', { jobs: 2, skip: onlyLong }, async (t) => {
  for (const { name, skip } of servers)
    void t.test(name, { buffered: true, skip }, async (t) => {
      const silent = new Probe();
      const { state, pipeline } = eagerSource();
      const upload = new Probe();
      const { client, edge } = await startEdge(t, name, [
        open('GET', '/silent', silent.pipeline),
        open('GET', '/stream', pipeline),
        open('GET', '/large', () => of(text(Buffer.alloc(30_000_000)))),
        open('POST', '/upload', upload.pipeline),
      ]);
      const quiet = await client();
      quiet.send(request('GET', '/v1/silent'));
      await silent.running();
      silent.reply(byteStream, bytes('a'));
      const away = await Promise.all(
        ['/v1/stream', '/v1/large'].map(async (path) => {
          const connection = await client();
          connection.socket.pause();
          return connection.send(request('GET', path));
        }),
      );
      await eventually(() => state.backpressure?.paused === true && edge.inFlight() === 3, 'both to be full');
      const [unused, halting, idle] = [await client(), await client(), await client()];
      halting.send('GET /v1/silent HTTP/1.1\r\nhost: te');
      await idle.send(request('GET', '/v1/nothing')).response();
      const slow = await client();
      slow.send(request('POST', '/v1/upload', { headers: { 'content-length': '32000' } }));
      await upload.running();
      let uploaded = 0;
      const reading = upload.exchange?.body.whole().subscribe((body) => {
        uploaded = body.length;
      });
      t.teardown(() => reading?.unsubscribe());
      for (let second = 0; second < 16; second++) {
        slow.send('x'.repeat(2000));
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
      t.equal(edge.inFlight(), 4);
      t.same(
        [unused.closed, halting.closed, idle.closed],
        [true, true, true],
        'who sends no request is sent away',
      );
      t.equal(uploaded, 32_000, 'an upload of 2 KB/s is slow, but well');
      for (const connection of away) connection.socket.resume();
      t.equal((await away[0]?.response())?.body.length, total);
      t.equal((await away[1]?.response())?.body.length, 30_000_000);
      silent.reply(bytes('b'));
      silent.complete();
      t.equal((await quiet.response()).body, 'ab');
      upload.reply(text('done'));
      upload.complete();
      t.equal((await slow.response()).body, 'done');
    });
});
