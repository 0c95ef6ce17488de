/** One replica's connections: a request in; the head of its answer and then its bytes to the reader, as fast as demand allows. */
import { Readable } from 'node:stream';
import { Pool } from 'undici';
import type { Flow } from '../ports/engine.ts';
import type { Deadlines } from './deadlines.ts';
import { type CallLimits, type EngineCall, type EngineReader, HttpCall } from './http-call.ts';
import { bodyBytes, bodyLength, type RequestBody } from './request-body.ts';

export interface EngineRequest {
  readonly method: 'GET' | 'POST';
  /** Below the replica's base address, or below its host. */
  readonly path: string;
  readonly fromRoot?: boolean;
  /** Names and values by turns. */
  readonly headers: string[];
  readonly body: RequestBody | null;
  /** False: the first byte comes with the last, so only the total limit holds, and demand is of no use. */
  readonly streams: boolean;
  /** The engine's own sentence in the body of an error answer. */
  explain(body: string): string | undefined;
}

export interface DispatchOptions {
  readonly limits: CallLimits & { readonly connect: number };
  /** PEM of the authorities that are trusted instead of the public ones. */
  readonly ca: string | undefined;
}

export class Dispatch {
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #deadlines: Deadlines;
  readonly #connections = { fresh: false };
  readonly #streamLimits: CallLimits;
  readonly #wholeLimits: CallLimits;

  constructor(baseUrl: string, deadlines: Deadlines, { limits, ca }: DispatchOptions) {
    const url = new URL(baseUrl);
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#deadlines = deadlines;
    this.#streamLimits = limits;
    this.#wholeLimits = { ...limits, firstByte: limits.total };
    // As many connections as calls, one call at a time on each: a stream behind another would wait for its end.
    // The time-outs are ours (`Deadlines`), all but the one for connecting.
    this.#pool = new Pool(url.origin, {
      connections: null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: limits.connect, ...(ca === undefined ? {} : { ca }) },
    });
    this.#pool.on('connect', () => {
      this.#connections.fresh = true;
    });
  }

  /** The reader hears nothing before this has returned. */
  send(request: EngineRequest, flow: Flow, reader: EngineReader): EngineCall {
    const { method, streams, explain } = request;
    const call = new HttpCall({
      reader,
      limits: streams ? this.#streamLimits : this.#wholeLimits,
      deadlines: this.#deadlines,
      connections: this.#connections,
      demand: streams ? flow.demand : undefined,
      explain,
    });
    const path = request.fromRoot === true ? request.path : this.#basePath + request.path;
    this.#pool.dispatch({ path, method, ...payload(request) }, call);
    return call;
  }

  /** Lets running calls end, then closes the connections. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

const payload = ({ headers, body }: EngineRequest): { headers: string[]; body: string | Readable | null } => {
  if (body === null || typeof body === 'string') return { headers, body };
  const stream = Readable.from(bodyBytes(body), { objectMode: false });
  // The call tells of its failure itself; the stream that is torn down with it needs no second hearing.
  stream.on('error', () => undefined);
  return { headers: [...headers, 'content-length', String(bodyLength(body))], body: stream };
};
