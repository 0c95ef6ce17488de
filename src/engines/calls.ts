/** Sends the requests of one engine's operations and reads their responses. */
import { Observable, type Subscriber } from 'rxjs';
import { asApiError, fail } from '../errors.ts';
import { JoinedBytes } from '../helpers/joined-bytes.ts';
import type { Flow } from '../ports/engines/engine.ts';
import type { EngineHead, EngineReader, ReadError } from './engine-call.ts';
import type { EngineRequest } from './pool/dispatch.ts';
import type { ReplicaPool } from './pool/pool.ts';
import type { Replica } from './pool/replica.ts';
import type { BodyDecoder, WireRequest } from './wire.ts';

/** Names and values alternate. Built once per engine. */
export interface RequestHeaders {
  /** For a body of JSON. */
  readonly json: readonly string[];
  readonly noBody: readonly string[];
}

interface CallOptions {
  /** The response is read as it arrives, at the pace backpressure allows; otherwise it is expected whole. */
  readonly streams?: boolean;
}

export class EngineCalls {
  readonly pool: ReplicaPool;
  readonly headers: RequestHeaders;
  readonly #readError: ReadError;

  constructor(pool: ReplicaPool, headers: RequestHeaders, readError: ReadError) {
    this.pool = pool;
    this.headers = headers;
    this.#readError = readError;
  }

  /** One request to a replica that the policy chooses, its response decoded whole. */
  decoded<Result>(request: WireRequest, flow: Flow, decoder: BodyDecoder<Result>): Observable<Result> {
    return this.read(request, flow, {}, (subscriber) => bodyReader(decoder, subscriber, flow));
  }

  /** One request to a replica that the policy chooses. */
  read<Out>(
    { path, fromRoot = false, body, contentType }: WireRequest,
    flow: Flow,
    { streams = false }: CallOptions,
    readerFor: (subscriber: Subscriber<Out>) => EngineReader,
  ): Observable<Out> {
    const { json, noBody } = this.headers;
    const headers = contentType === undefined ? json : ['content-type', contentType, ...noBody];
    const readError = this.#readError;
    return new Observable((subscriber) => {
      const request = { method: 'POST', path, fromRoot, headers, body, streams, readError } as const;
      const call = this.pool.send(request, flow, readerFor(subscriber));
      return () => call.close();
    });
  }

  /** A whole response of one replica: for what only that one knows. */
  ask(replica: Replica, method: EngineRequest['method'], request: ReplicaRequest, flow: Flow) {
    return this.#readFrom<Buffer>(replica, { method, streams: false, ...request }, flow, (subscriber) =>
      bodyReader(wholeBody(), subscriber, { limit: longestRecord }),
    );
  }

  /** A file of one replica, of any length, at the pace backpressure allows. */
  download(replica: Replica, path: string, flow: Flow): Observable<Buffer> {
    return this.#readFrom(replica, { method: 'GET', path, streams: true }, flow, (subscriber) => ({
      head: () => undefined,
      bytes: (bytes) => subscriber.next(Buffer.from(bytes)),
      end: () => subscriber.complete(),
      error: (error) => subscriber.error(error),
    }));
  }

  /** How the call ends counts for the replica's circuit breaker. */
  #readFrom<Out>(
    replica: Replica,
    { body, contentType, ...request }: ReplicaRequest & Pick<EngineRequest, 'method' | 'streams'>,
    flow: Flow,
    readerFor: (subscriber: Subscriber<Out>) => EngineReader,
  ): Observable<Out> {
    const { json, noBody } = this.headers;
    const headers =
      body === undefined
        ? noBody
        : contentType === undefined
          ? json
          : ['content-type', contentType, ...noBody];
    const readError = this.#readError;
    return new Observable((subscriber) => {
      const reader = this.pool.reporting(replica, readerFor(subscriber));
      const call = replica.dispatch.send(
        { ...request, body: body ?? null, headers, readError },
        flow,
        reader,
      );
      return () => call.close();
    });
  }
}

type ReplicaRequest = Pick<WireRequest, 'path' | 'contentType'> & Partial<Pick<WireRequest, 'body'>>;

/** Bytes of a response that is decoded as it arrives. */
const longestBody = 256 * 1024 * 1024;
/** Bytes of a job's record. */
const longestRecord = 4 * 1024 * 1024;

/** A reader of limited length; what its methods throw is emitted as an error. */
export const limitedReader = <Out>(
  subscriber: Subscriber<Out>,
  limit: number,
  { head, bytes, end }: Pick<EngineReader, 'head' | 'end'> & { bytes(bytes: Buffer): void },
): EngineReader => {
  let received = 0;
  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (thrown) {
      subscriber.error(asApiError(thrown));
    }
  };
  return {
    head,
    bytes: (read) =>
      guarded(() => {
        received += read.length;
        if (received > limit) throw fail('engine_unreachable', 'The engine sent too long an answer');
        bytes(read);
      }),
    end: () => guarded(end),
    error: (error) => subscriber.error(error),
  };
};

/** Emits what a decoder makes of a response. */
export const bodyReader = <Result>(
  decoder: BodyDecoder<Result> & { head?(head: EngineHead): void },
  subscriber: Subscriber<Result>,
  { limit = longestBody, copies }: Pick<Flow, 'copies'> & { readonly limit?: number } = {},
): EngineReader =>
  limitedReader(subscriber, limit, {
    head: (head) => decoder.head?.(head),
    bytes: (bytes) => decoder.push(copies?.copy(bytes) ?? Buffer.from(bytes)),
    end: () => {
      subscriber.next(decoder.end());
      subscriber.complete();
    },
  });

/** The bytes as they are. */
export const wholeBody = (): BodyDecoder<Buffer> => {
  const body = new JoinedBytes();
  return { push: (bytes) => body.add(bytes, true), end: () => body.take() };
};
