/** Stream flow control: readers that pause, disconnect, stall or wait. */
import { Observable, of } from 'rxjs';
import type { Test } from 'tap';
import type { Backpressure } from '../../../src/ports/backpressure.ts';
import type { Pipeline, Reply } from '../../../src/ports/exchange.ts';
import { eventually } from '../../eventually.ts';
import { slowKey, startEdge } from '../../http/edge-fixture.ts';
import { request, settled } from '../../http/raw-client.ts';
import { byteStream, bytes, eventStream, keyed, open, Probe, text } from './probe.ts';

/** More than any socket buffers on the way can hold. */
export const total = 48 * 1024 * 1024;
/** Of a byte that no head has in it. */
const piece = Buffer.alloc(16 * 1024, 0xff);

/** Like an engine: sends `all` in bursts as fast as it is read, and pauses on backpressure. `next` gives what to send, and its size. */
const burstSource = (
  head: Reply,
  { all, burst, next }: { all: number; burst: number; next: (pushed: number) => readonly [Reply, number] },
) => {
  const state = { pushed: 0, left: 0, backpressure: undefined as Backpressure | undefined };
  const pipeline: Pipeline = ({ backpressure }) =>
    new Observable<Reply>((subscriber) => {
      state.backpressure = backpressure;
      let waiting: NodeJS.Immediate | undefined;
      const push = () => {
        waiting = undefined;
        for (let count = 0; count < burst && !backpressure.paused && state.pushed < all; count++) {
          const [reply, size] = next(state.pushed);
          state.pushed += size;
          subscriber.next(reply);
        }
        if (state.pushed >= all) subscriber.complete();
        else if (!backpressure.paused) waiting = setImmediate(push);
      };
      backpressure.attach({
        pause: () => {},
        resume: () => {
          waiting ??= setImmediate(push);
        },
      });
      subscriber.next(head);
      push();
      return () => {
        state.left++;
        clearImmediate(waiting);
      };
    });
  return { state, pipeline };
};

export const eagerSource = (head = byteStream) =>
  burstSource(head, { all: total, burst: 4, next: () => [bytes(piece), piece.length] });

export const flow = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  await t.test('a paused reader pauses the source, and gets every byte when it resumes', async (t) => {
    const { state, pipeline } = eagerSource();
    const { client, edge } = await startEdge(t, name, [open('GET', '/stream', pipeline)]);
    const connection = await client();
    connection.socket.pause();
    connection.send(request('GET', '/v1/stream'));
    await eventually(() => state.pushed > 0, 'the source to begin');
    await settled(() => state.pushed);
    t.equal(state.backpressure?.paused, true);
    t.ok(state.pushed < total / 2, `${state.pushed} bytes were pushed before the pause`);
    connection.socket.resume();
    const response = await connection.response();
    t.equal(response.body.length, total, 'one character for each byte');
    t.equal(state.left, 1);
    await eventually(() => edge.inFlight() === 0, 'nothing in flight');
  });

  await t.test('the same with a stream of events', async (t) => {
    const line = (index: number) => `data: ${index} ${'x'.repeat(2000)}`;
    const count = 12_000;
    const { state, pipeline } = burstSource(eventStream, {
      all: count,
      burst: 8,
      next: (index) => {
        const reply = bytes(`${line(index)}\n\n`);
        return [index + 1 === count ? { ...reply, last: true } : reply, 1];
      },
    });
    const { client, edge } = await startEdge(t, name, [open('GET', '/stream', pipeline)]);
    const connection = await client();
    connection.socket.pause();
    connection.send(request('GET', '/v1/stream'));
    await eventually(() => state.pushed > 0, 'the source to begin');
    await settled(() => state.pushed);
    t.equal(state.backpressure?.paused, true);
    t.ok(state.pushed < count / 2, `${state.pushed} of ${count} events were pushed before the pause`);
    connection.socket.resume();
    const { body } = await connection.response();
    const events = body.split('\n\n').filter((block) => block.startsWith('data: '));
    t.equal(events.length, count);
    t.ok(
      events.every((block, index) => block === line(index)),
      'each event once, in order',
    );
    t.ok(body.endsWith(`${line(count - 1)}\n\n`), 'and nothing behind them');
    await eventually(() => edge.inFlight() === 0, 'nothing in flight');
    t.match((await connection.send(request('HEAD', '/v1/stream')).response({ head: true })).status, 200);
  });

  await t.test('the same where the length is known', async (t) => {
    const { state, pipeline } = eagerSource({ ...byteStream, length: total });
    const { client, edge } = await startEdge(t, name, [open('GET', '/file', pipeline)]);
    const connection = await client();
    connection.socket.pause();
    connection.send(request('GET', '/v1/file'));
    await eventually(() => state.backpressure?.paused === true, 'the source to be paused');
    await settled(() => state.pushed);
    t.ok(state.pushed < total / 2, `${state.pushed} bytes were pushed before the pause`);
    connection.socket.resume();
    const response = await connection.response();
    t.equal(response.headers['content-length'], String(total));
    t.equal(response.body.length, total, 'one character for each byte');
    await eventually(() => state.left === 1 && edge.inFlight() === 0, 'nothing in flight');

    const probe = new Probe();
    const burst = await startEdge(t, name, [open('GET', '/file', probe.pipeline)]);
    const reader = await burst.client();
    reader.socket.pause();
    reader.send(request('GET', '/v1/file'));
    await probe.running();
    probe.reply({ ...byteStream, length: 20_000_003 }, bytes(Buffer.alloc(20_000_000, 'a')), bytes('end'));
    t.equal(probe.exchange?.backpressure.paused, true);
    reader.socket.resume();
    t.equal((await reader.response()).body.slice(-4), 'aend');
    await eventually(() => probe.exchange?.backpressure.paused === false, 'the source to be let go on');
    probe.complete();
    await eventually(() => burst.edge.inFlight() === 0, 'nothing in flight');
  });

  await t.test('the rest of a burst reaches a reader that resumes, though nothing follows it', async (t) => {
    const probe = new Probe();
    const { client } = await startEdge(t, name, [open('GET', '/stream', probe.pipeline)]);
    const connection = await client();
    connection.socket.pause();
    connection.send(request('GET', '/v1/stream'));
    await probe.running();
    probe.reply(
      byteStream,
      bytes(Buffer.alloc(20_000_000, 'a')),
      bytes('b'.repeat(5_000_000)),
      bytes('the end'),
    );
    t.equal(probe.exchange?.backpressure.paused, true);
    connection.socket.resume();
    await eventually(() => connection.total > 25_000_000, 'the burst');
    await connection.received('the end');
    await eventually(() => probe.exchange?.backpressure.paused === false, 'the backpressure to return');
    probe.reply(bytes('more'));
    probe.complete();
    const { body } = await connection.response();
    t.equal(body.length, 25_000_011);
    t.equal(body.slice(-11), 'the endmore');
  });

  await t.test('bytes written before a pause arrive, though nothing is written after it', async (t) => {
    const probe = new Probe();
    const { client } = await startEdge(t, name, [open('GET', '/stream', probe.pipeline)]);
    const connection = await client();
    connection.socket.pause();
    connection.send(request('GET', '/v1/stream'));
    await probe.running();
    probe.reply(eventStream);
    let pushed = 0;
    await eventually(() => {
      for (; probe.exchange?.backpressure.paused === false && pushed < total; pushed += piece.length)
        probe.reply(bytes(piece));
      return probe.exchange?.backpressure.paused === true;
    }, 'the source to be paused');
    connection.socket.resume();
    await eventually(() => connection.text.split('\xff').length - 1 === pushed, `all of ${pushed} bytes`);
  });

  await t.test('a large response to a slow reader', async (t) => {
    const body = Buffer.alloc(30_000_000, 'z');
    const { client, edge } = await startEdge(t, name, [open('GET', '/large', () => of(text(body)))]);
    const connection = await client();
    connection.socket.pause();
    connection.send(request('GET', '/v1/large'));
    await eventually(() => edge.inFlight() === 1, 'the request');
    connection.socket.resume();
    const response = await connection.response();
    t.equal(response.headers['content-length'], '30000000');
    t.equal(response.body.length, 30_000_000);
    await eventually(() => edge.inFlight() === 0, 'nothing in flight');
    t.equal((await connection.send(request('HEAD', '/v1/large')).response({ head: true })).status, 200);
  });

  await t.test('a disconnect is noticed at once', async (t) => {
    const probe = new Probe();
    const { client, edge } = await startEdge(t, name, [
      open('GET', '/stream', probe.pipeline),
      keyed('GET', '/keyed', probe.pipeline),
      open('POST', '/stream', probe.pipeline),
    ]);
    const leave = async (what: string, sent: Buffer, act: () => void, how: 'destroy' | 'end') => {
      const before = probe.left;
      const connection = await client();
      connection.send(sent);
      await probe.running(before + 1);
      act();
      connection.socket[how]();
      await probe.stopped(before + 1);
      await eventually(() => edge.inFlight() === 0, 'nothing in flight');
      t.pass(what);
    };
    const get = request('GET', '/v1/stream');
    await leave('before the head', get, () => {}, 'destroy');
    await leave('before the head, politely', get, () => {}, 'end');
    await leave('with its body sent', request('POST', '/v1/stream', { body: '{}' }), () => {}, 'destroy');
    await leave('after the head', get, () => probe.reply(eventStream), 'destroy');
    await leave('in the middle', get, () => probe.reply(eventStream, bytes('data: 1\n\n')), 'destroy');
    await leave('in the middle, politely', get, () => probe.reply(eventStream, bytes('data: 1\n\n')), 'end');

    const early = await client();
    early.send(request('GET', '/v1/keyed', { headers: { authorization: `Bearer ${slowKey}` } }));
    await eventually(() => edge.inFlight() === 1, 'the request');
    early.socket.destroy();
    await eventually(() => edge.inFlight() === 0, 'nothing in flight');
    t.equal(probe.started, 6, 'left while the key was looked up: the pipeline never ran');
  });

  await t.test('a client that disconnects while its socket buffer is full', async (t) => {
    const { state, pipeline } = eagerSource();
    const { client, edge } = await startEdge(t, name, [open('GET', '/stream', pipeline)], { tickMs: 20 });
    const connection = await client();
    connection.socket.pause();
    connection.send(request('GET', '/v1/stream'));
    await eventually(() => state.backpressure?.paused === true, 'the source to be paused');
    connection.socket.destroy();
    await eventually(() => state.left === 1 && edge.inFlight() === 0, 'the source to be left');
  });

  await t.test('a stalled reader is disconnected', async (t) => {
    const stream = eagerSource();
    const { client, edge, log } = await startEdge(
      t,
      name,
      [
        open('GET', '/stream', stream.pipeline),
        open('GET', '/large', () => of(text(Buffer.alloc(30_000_000)))),
      ],
      { tickMs: 20, stalledReaderMs: 200 },
    );
    for (const path of ['/v1/stream', '/v1/large']) {
      const connection = await client();
      connection.socket.pause();
      connection.send(request('GET', path));
      await eventually(() => edge.inFlight() === 1, 'the request');
      await eventually(() => edge.inFlight() === 0, 'it to be cut off');
      connection.socket.resume();
      await connection.disconnected();
      t.ok(connection.total < 30_000_000, path);
    }
    t.equal(stream.state.left, 1);
    t.match(log, [{ cut: 'client stalled' }, { cut: 'client stalled' }]);
  });

  await t.test('idle streams get keep-alive comments, if they define one', async (t) => {
    const spoken = new Probe();
    const mute = new Probe();
    const { client } = await startEdge(
      t,
      name,
      [open('GET', '/spoken', spoken.pipeline), open('GET', '/mute', mute.pipeline)],
      { tickMs: 10, keepAliveMs: 50 },
    );
    const quiet = await client();
    quiet.send(request('GET', '/v1/mute'));
    const connection = await client();
    connection.send(request('GET', '/v1/spoken'));
    await spoken.running();
    await mute.running();
    mute.reply(byteStream, bytes('first'));
    spoken.reply(eventStream, bytes('data: 1\n\n'));
    await eventually(() => connection.text.split(': keep-alive\n\n').length > 3, 'three comments');
    spoken.reply(bytes('data: 2\n\n'));
    spoken.complete();
    mute.complete();
    t.match((await connection.response()).body, /^data: 1\n\n(?:: keep-alive\n\n){3,}data: 2\n\n$/);
    t.equal((await quiet.response()).body, 'first');
  });
};
