/** Tests that errors thrown around a pipeline fail one request and no other. */
import { Observable, of } from 'rxjs';
import t, { type Test } from 'tap';
import type { Reply } from '../../src/ports/exchange.ts';
import type { Trace, Tracing } from '../../src/ports/trace.ts';
import { byteStream, bytes, eventStream, open, text } from '../contracts/edge/probe.ts';
import { eventually } from '../eventually.ts';
import { type EdgeFixture, startEdge } from './edge-fixture.ts';
import { request } from './raw-client.ts';
import { servers } from './servers.ts';

const hello = open('GET', '/hello', () => of(text('hello')));

const errorLine = ({ log }: EdgeFixture, message: string) =>
  eventually(() => log.find(({ level, msg }) => level === 50 && msg === message), message);

const servesOn = async (t: Test, fixture: EdgeFixture): Promise<void> => {
  const connection = await fixture.client();
  t.equal((await connection.send(request('GET', '/v1/hello')).response()).body, 'hello');
  await eventually(() => fixture.edge.inFlight() === 0, 'nothing in flight');
};

for (const { name, skip } of servers)
  t.test(name, { skip }, async (t) => {
    t.test('a teardown that throws', async (t) => {
      const fixture = await startEdge(t, name, [
        hello,
        open(
          'GET',
          '/teardown',
          () =>
            new Observable<Reply>((subscriber) => {
              queueMicrotask(() => {
                subscriber.next(text('done'));
                subscriber.complete();
              });
              return () => {
                throw new Error('teardown broke');
              };
            }),
        ),
      ]);
      const connection = await fixture.client();
      t.equal((await connection.send(request('GET', '/v1/teardown')).response()).body, 'done');
      await errorLine(fixture, 'pipeline teardown failed');
      await servesOn(t, fixture);
    });

    t.test('a source that throws when it is resumed', async (t) => {
      const fixture = await startEdge(t, name, [
        hello,
        open(
          'GET',
          '/stream',
          ({ backpressure }) =>
            new Observable<Reply>((subscriber) => {
              let paused = false;
              backpressure.attach({
                pause: () => {
                  paused = true;
                },
                resume: () => {
                  throw new Error('resume broke');
                },
              });
              subscriber.next(byteStream);
              const fill = (): void => {
                while (!paused) subscriber.next(bytes(Buffer.alloc(64 * 1024)));
              };
              queueMicrotask(fill);
            }),
        ),
      ]);
      const connection = await fixture.client();
      connection.send(request('GET', '/v1/stream'));
      t.match(await errorLine(fixture, 'request failed'), {
        err: { message: 'resume broke' },
        route: '/stream',
      });
      await connection.disconnected();
      await servesOn(t, fixture);
    });

    t.test('a response that the server rejects', async (t) => {
      const fixture = await startEdge(t, name, [
        hello,
        open('GET', '/broken', () => of({ ...text('x'), body: Symbol('no text') as unknown as string })),
      ]);
      const connection = await fixture.client();
      connection.send(request('GET', '/v1/broken'));
      await connection.disconnected();
      t.match(await errorLine(fixture, 'request failed'), { route: '/broken' });
      await servesOn(t, fixture);
    });

    t.test('tracing that throws, at either end of a request', async (t) => {
      const trace: Trace = {
        id: '0'.repeat(31).concat('1'),
        lines: '',
        startCall: () => undefined,
        end: () => {
          throw new Error('end broke');
        },
      };
      let begins = true;
      const tracing = {
        begin: () => {
          if (begins) return trace;
          throw new Error('begin broke');
        },
      } as unknown as Tracing;
      const fixture = await startEdge(t, name, [hello], {}, { tracing });
      const first = await fixture.client();
      t.equal((await first.send(request('GET', '/v1/hello')).response()).body, 'hello');
      await errorLine(fixture, 'request line failed');
      begins = false;
      const second = await fixture.client();
      second.send(request('GET', '/v1/hello'));
      await second.disconnected();
      t.match(await errorLine(fixture, 'request failed'), { err: { message: 'begin broke' } });
      begins = true;
      await servesOn(t, fixture);
    });

    t.test('synchronous replies are followed by one teardown', async (t) => {
      let left = 0;
      const fixture = await startEdge(t, name, [
        open(
          'GET',
          '/sync',
          () =>
            new Observable<Reply>((subscriber) => {
              subscriber.next(eventStream);
              subscriber.next(bytes('data: 1\n\n'));
              // Never completes: HEAD wants none of it.
              return () => {
                left++;
              };
            }),
        ),
      ]);
      const connection = await fixture.client();
      const response = await connection.send(request('HEAD', '/v1/sync')).response({ head: true });
      t.equal(response.status, 200);
      await eventually(() => left === 1 && fixture.edge.inFlight() === 0, 'the teardown');
    });
  });
