/** One request and its answer as the pipelines see them: no socket, no server, only values and streams. */
import type { Logger } from 'pino';
import type { Observable } from 'rxjs';
import type { LimitNumbers } from '../../schemas/limits.ts';
import type { ApiError, ErrorDialect } from '../errors.ts';
import type { EarlyLease } from './admission.ts';
import type { Backpressure } from './backpressure.ts';
import type { KeyScope } from './keys.ts';
import type { Served } from './served.ts';
import type { Trace } from './trace.ts';

export interface Exchange {
  /** Sent back as `x-request-id` and `request-id`, and written in every log line. */
  readonly id: string;
  readonly method: string;
  /** Path as it was sent, without the query. */
  readonly path: string;
  /** Path parameters of the route, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Raw query string without the question mark. */
  readonly query: string;
  /** Empty string when absent. */
  header(name: HeaderName | SessionHeader): string;
  readonly body: IncomingBody;
  /** What the client is ready to take: paused while its socket is full. */
  readonly backpressure: Backpressure;
  /** Shape of errors on this request. */
  readonly dialect: ErrorDialect;
  readonly log: Logger;
  /** The trace it belongs to; absent: none. */
  readonly trace?: Trace | undefined;
  /** How it was served; set when it is admitted. */
  served?: Served | undefined;
  /** The model whose queue it has to wait in; stays when it is admitted. */
  queuedFor?: string | undefined;
  /** What the client's session is known by, where the engine of its model balances by it. */
  session?: string | undefined;
  /** Set while a stream runs that can say why it ends early: asked to when the server cannot wait for its end. */
  stream?: Breakable | undefined;
  /** The first thing that a stage threw, or what the edge ended it with: usage then counts as that of a failure. */
  failure?: unknown;
}

export interface Breakable {
  /** Ends it with this error inside. */
  error(error: ApiError): void;
}

/** Headers that a pipeline may ask for at any time: each is kept at a cost, so a new reader adds its name here. */
export type KeptHeader =
  | 'content-type'
  | 'content-encoding'
  | 'user-agent'
  | 'anthropic-version'
  | 'range'
  | 'sluice-resumable'
  | 'last-event-id';

/** One that the catalog names for telling sessions apart, in lower case; kept as long as it does. */
export type SessionHeader = string & { readonly tells: 'session' };

/** The rest is of use only before the pipeline starts. */
export type HeaderName =
  | KeptHeader
  | 'accept'
  | 'accept-encoding'
  | 'authorization'
  | 'if-none-match'
  | 'x-api-key'
  | 'access-control-request-headers'
  | 'x-forwarded-for'
  | 'traceparent'
  | 'tracestate';

/** A request body of up to so many bytes is received and parsed before admission; a larger one is admitted first. */
export const smallBodyBytes = 64 * 1024;

export interface IncomingBody {
  /** Declared length in bytes; undefined for chunked bodies. */
  readonly length: number | undefined;
  /**
   * The first `smallBodyBytes` of a larger body as soon as they are here; undefined for one that is not larger. All of
   * it is still to be read, and no more arrives until it is. Fails with 413 as `whole` does.
   */
  prefix(): Observable<Buffer | undefined>;
  /**
   * The body in one piece; fails with 413 past the route's limit without reading on. A client that stops in the middle
   * is gone, and its pipeline is unsubscribed from; one that is too slow gets a 400. A large body waits for memory, and
   * fails with 429 or 503 when it gets none in time. `lent`: the receiver is done with
   * it when it has taken it, and so a copy may be spared.
   */
  whole(lent?: boolean): Observable<Buffer>;
  /**
   * The body as it arrives, each piece the receiver's to keep. `backpressure.pause()` stops reading the socket.
   * Fails as `whole` does. Unsubscribing discards the rest. `stored`: the receiver keeps none of it in memory.
   */
  chunks(backpressure: Backpressure, stored?: boolean): Observable<Buffer>;
  /** The request is admitted: its body counts no longer against the memory for those that are not. */
  admitted(): void;
}

/** Who asks. Everything stored or billed belongs to the subscription. */
export interface Caller {
  readonly subscription: string;
  readonly key: string;
  /** Undefined: the key may be used for everything. */
  readonly scope?: KeyScope | undefined;
  /** Limits of the key's own. */
  readonly limits?: LimitNumbers | undefined;
  /** Words of the key, by which budgets may be made. */
  readonly tags?: readonly string[] | undefined;
}

/** A request whose caller is known. */
export interface KeyedRequest {
  readonly exchange: Exchange;
  readonly caller: Caller;
  /** Of a request with a large body, which was admitted before all of it was read. */
  readonly early?: EarlyLease;
}

/**
 * What a pipeline emits: one `answer`; or one `head` and then `bytes` until it completes.
 * An error before either becomes the error answer of the route; after `head` it cuts the connection,
 * so a pipeline that streams turns expected failures into bytes.
 */
export type Reply = WholeReply | Head | Bytes;

export interface WholeReply {
  readonly kind: 'whole';
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: ReplyBody;
}

/** In pieces where some of it is bytes already: joining them is the business of whoever writes them. */
export type ReplyBody = string | Uint8Array | readonly (string | Uint8Array)[];

export interface Head {
  readonly kind: 'head';
  readonly status: number;
  readonly headers: HeaderList;
  /** Bytes the stream will have, where that is known: `content-length`. One that ends before is cut off. */
  readonly length?: number;
  /** Written when the stream has been silent for a while; an SSE comment, say. Not for streams of known length. */
  readonly keepAlive?: string;
  /** How a failure after this head is reported inside the stream. Without it the connection is cut. */
  readonly failure?: (error: ApiError) => string;
}

export interface Bytes {
  readonly kind: 'bytes';
  /** Borrowed: valid until `next` returns. */
  readonly bytes: string | Uint8Array;
  /** They end the response, or the next ones do at once, and wait until its usage event is durable. */
  readonly last?: true;
}

export type HeaderList = Readonly<Record<string, string>>;

/** A route's whole behaviour: the step from an exchange to its replies. */
export type Pipeline = (exchange: Exchange, request: { readonly exchange: Exchange }) => Observable<Reply>;

/** A route that knows its caller. */
export type KeyedPipeline = (exchange: Exchange, request: KeyedRequest) => Observable<Reply>;

const jsonHeaders: HeaderList = { 'content-type': 'application/json' };

/** 204. */
export const noContent: WholeReply = { kind: 'whole', status: 204, headers: {}, body: '' };

export const jsonReply = (value: unknown, status = 200, headers?: HeaderList): WholeReply => ({
  kind: 'whole',
  status,
  headers: headers === undefined ? jsonHeaders : { ...jsonHeaders, ...headers },
  body: JSON.stringify(value),
});

/** An answer whose JSON is already text. */
export const jsonTextReply = (body: ReplyBody): WholeReply => ({
  kind: 'whole',
  status: 200,
  headers: jsonHeaders,
  body,
});
