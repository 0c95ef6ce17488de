/** A pool in; calls to one and the same replica of it out: for what only the replica that was asked first knows. */
import { Observable, type Subscriber } from 'rxjs';
import { fail } from '../errors.ts';
import type { Flow } from '../ports/engine.ts';
import type { EngineRequest } from './dispatch.ts';
import type { EngineError } from './engine-error.ts';
import type { EngineReader } from './http-call.ts';
import type { OutgoingBody } from './outgoing-body.ts';
import type { ReplicaPool } from './pool.ts';
import type { Replica } from './replica.ts';

export interface ReplicaRequest {
  readonly method: EngineRequest['method'];
  readonly path: string;
  readonly body?: OutgoingBody;
}

export interface ReplicaCalls {
  /** The least busy one but those; undefined when none can take a call. */
  pick(tried: readonly Replica[]): Replica | undefined;
  /** The whole answer, in one piece. */
  ask(replica: Replica, request: ReplicaRequest, flow: Flow): Observable<Buffer>;
  /** An answer of any length, as fast as the flow's backpressure allows. */
  read(replica: Replica, path: string, flow: Flow): Observable<Buffer>;
}

/** Records of jobs: far below it. */
const longestAnswer = 4 * 1024 * 1024;

export const replicaCalls = (
  pool: ReplicaPool,
  headers: readonly string[],
  explain: EngineRequest['explain'],
): ReplicaCalls => {
  const send = (
    replica: Replica,
    { method, path, body }: ReplicaRequest,
    flow: Flow,
    streams: boolean,
  ): Observable<Buffer> =>
    new Observable((subscriber) => {
      // The first two say of which type the body is.
      const own = body === undefined ? headers.slice(2) : headers;
      const request: EngineRequest = {
        method,
        path,
        headers: [...own, 'x-request-id', flow.requestId],
        body: body ?? null,
        streams,
        explain,
      };
      const call = replica.dispatch.send(request, flow, reporting(pool, replica, subscriber));
      return () => call.close();
    });

  return {
    pick: (tried) => pool.pick(tried),
    ask: (replica, request, flow) => gathered(send(replica, request, flow, false)),
    read: (replica, path, flow) => send(replica, { method: 'GET', path }, flow, true),
  };
};

/** How a call ends says how its replica is. */
const reporting = (pool: ReplicaPool, replica: Replica, subscriber: Subscriber<Buffer>): EngineReader => ({
  head: () => undefined,
  bytes: (bytes) => subscriber.next(Buffer.from(bytes)),
  end: () => {
    pool.succeeded(replica);
    subscriber.complete();
  },
  error: (error: EngineError) => {
    pool.failed(replica, error);
    subscriber.error(error);
  },
});

const gathered = (bytes: Observable<Buffer>): Observable<Buffer> =>
  new Observable((subscriber) => {
    const pieces: Buffer[] = [];
    let length = 0;
    return bytes.subscribe({
      next: (piece) => {
        pieces.push(piece);
        length += piece.length;
        if (length > longestAnswer)
          subscriber.error(fail('engine_unreachable', 'The engine sent too long an answer'));
      },
      error: (error: unknown) => subscriber.error(error),
      complete: () => {
        subscriber.next(Buffer.concat(pieces, length));
        subscriber.complete();
      },
    });
  });
