/** Sends the requests of one engine's operations and reads their responses. */
import { Observable, type Subscriber } from 'rxjs';
import { type ApiError, asApiError, fail } from '../errors.ts';
import type { Flow } from '../ports/engine.ts';
import type { EngineRequest } from './dispatch.ts';
import type { EngineHead, EngineReader, ReadError } from './http-call.ts';
import type { ReplicaPool } from './pool.ts';
import type { Replica } from './replica.ts';
import type { BodyDecoder, WireRequest } from './wire.ts';

/** Names and values alternate. Built once per engine. */
export interface RequestHeaders {
  /** For a body of JSON. */
  readonly json: readonly string[];
  readonly noBody: readonly string[];
}

export interface CallOptions {
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

  /** One request to the least busy replica, its response decoded whole. */
  decoded<Result>(request: WireRequest, flow: Flow, decoder: BodyDecoder<Result>): Observable<Result> {
    return this.read(request, flow, {}, (subscriber) => new BodyReader(decoder, subscriber));
  }

  /** One request to the least busy replica. */
  read<Out>(
    { path, body, contentType }: WireRequest,
    flow: Flow,
    { streams = false }: CallOptions,
    readerFor: (subscriber: Subscriber<Out>) => EngineReader,
  ): Observable<Out> {
    const { json, noBody } = this.headers;
    const headers = contentType === undefined ? json : ['content-type', contentType, ...noBody];
    const readError = this.#readError;
    return new Observable((subscriber) => {
      const request = { method: 'POST', path, headers, body, streams, readError } as const;
      const call = this.pool.send(request, flow, readerFor(subscriber));
      return () => call.close();
    });
  }

  /** A whole response of one replica: for what only that one knows. */
  ask(replica: Replica, method: EngineRequest['method'], request: ReplicaRequest, flow: Flow) {
    return this.#readFrom<Buffer>(
      replica,
      { method, streams: false, ...request },
      flow,
      (subscriber) => new BodyReader(new WholeBody(), subscriber, longestRecord),
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
    { body, ...request }: ReplicaRequest & Pick<EngineRequest, 'method' | 'streams'>,
    flow: Flow,
    readerFor: (subscriber: Subscriber<Out>) => EngineReader,
  ): Observable<Out> {
    const { json, noBody } = this.headers;
    const headers = body === undefined ? noBody : json;
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

export type ReplicaRequest = Pick<WireRequest, 'path'> & Partial<Pick<WireRequest, 'body'>>;

/** Bytes of a response that is decoded as it arrives. */
const longestBody = 256 * 1024 * 1024;
/** Bytes of a job's record. */
const longestRecord = 4 * 1024 * 1024;

export class BodyReader<Result> implements EngineReader {
  readonly #decoder: BodyDecoder<Result> & { head?(head: EngineHead): void };
  readonly #subscriber: Subscriber<Result>;
  readonly #limit: number;
  #bytes = 0;

  constructor(
    decoder: BodyDecoder<Result> & { head?(head: EngineHead): void },
    subscriber: Subscriber<Result>,
    limit = longestBody,
  ) {
    this.#decoder = decoder;
    this.#subscriber = subscriber;
    this.#limit = limit;
  }

  head(head: EngineHead): void {
    this.#decoder.head?.(head);
  }

  bytes(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limit) {
      this.#subscriber.error(fail('engine_unreachable', 'The engine sent too long an answer'));
      return;
    }
    try {
      this.#decoder.push(Buffer.from(bytes));
    } catch (thrown) {
      this.#subscriber.error(asApiError(thrown));
    }
  }

  end(): void {
    let result: Result;
    try {
      result = this.#decoder.end();
    } catch (thrown) {
      this.#subscriber.error(asApiError(thrown));
      return;
    }
    this.#subscriber.next(result);
    this.#subscriber.complete();
  }

  error(error: ApiError): void {
    this.#subscriber.error(error);
  }
}

/** The bytes as they are. */
export class WholeBody implements BodyDecoder<Buffer> {
  readonly #pieces: Buffer[] = [];

  push(bytes: Buffer): void {
    this.#pieces.push(bytes);
  }

  end(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
