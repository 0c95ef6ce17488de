/** Sends requests to one replica over its HTTP connections. */
import type { Flow } from '../../ports/engines/engine.ts';
import type { CallLimits, CallSetting, EngineCall, EngineReader, ReadError } from '../engine-call.ts';
import { Connections } from '../http1/connections.ts';
import type { Deadlines } from '../http1/deadlines.ts';
import { HttpCall } from '../http1/http-call.ts';
import type { OutgoingBody } from '../http1/outgoing-body.ts';
import { fixedLines, outgoing, requestStart } from '../http1/request.ts';
import type { ReplicaAddress } from './membership.ts';
import type { PromptCall } from './policies/policy.ts';

export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the replica's base address, or below its host. */
  readonly path: string;
  readonly fromRoot?: boolean;
  /** Names and values alternate. A list that is reused is validated only once. */
  readonly headers: readonly string[];
  readonly body: OutgoingBody | null;
  /** The engine's name for the model, and what the prompt is made of: policies choose a replica by them. */
  readonly model?: string;
  readonly prompt?: PromptCall;
  /** False: the response comes at once, so only the total limit applies, and backpressure does not. */
  readonly streams: boolean;
  readonly readError: ReadError;
}

type Beginning = Pick<EngineRequest, 'method' | 'path' | 'headers'> & {
  readonly fromRoot?: boolean | undefined;
};

interface DispatchOptions {
  readonly limits: CallLimits & { readonly connect: number };
  /** PEM of the authorities that are trusted instead of the public ones. */
  readonly ca: string | undefined;
}

export class Dispatch {
  /** One call at a time on each connection: pipelined streams would wait for each other. */
  readonly #connections: Connections;
  readonly #basePath: string;
  readonly #fixedLines: string;
  readonly #streams: CallSetting;
  readonly #wholes: CallSetting;
  /** The start of the last request's head, which most requests share. */
  #latest: (Beginning & { readonly start: string }) | undefined;

  constructor(address: ReplicaAddress, deadlines: Deadlines, { limits, ca }: DispatchOptions) {
    const url = new URL(address.url);
    const { host = url.host } = address;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#fixedLines = fixedLines(host);
    this.#streams = { limits, deadlines };
    this.#wholes = { limits: { ...limits, firstByte: limits.total }, deadlines };
    this.#connections = new Connections(url, {
      connectLimit: limits.connect,
      ca,
      name: address.host?.replace(/:\d+$/, ''),
    });
  }

  /** The reader is called only after this returns. `fresh`: on a connection of its own. */
  send(
    request: EngineRequest,
    flow: Flow,
    reader: EngineReader,
    traceLines = flow.trace?.lines,
    fresh = false,
  ): EngineCall {
    const { method, body, streams, readError } = request;
    const call = streams
      ? new HttpCall(this.#streams, reader, flow.backpressure, readError)
      : new HttpCall(this.#wholes, reader, undefined, readError);
    try {
      // Only a GET without a body has no content length.
      const sent = body === null && method === 'GET' ? undefined : body;
      const bytes = outgoing(this.#start(request), flow.requestId, traceLines, sent);
      call.runOn(this.#connections.send(bytes, call, fresh));
    } catch (thrown) {
      call.failed(thrown instanceof Error ? thrown : new Error(String(thrown)), false);
    }
    return call;
  }

  /** Lets running calls end, then closes the connections. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  #start(request: EngineRequest): string {
    const latest = this.#latest;
    if (latest !== undefined && startsAlike(latest, request)) return latest.start;
    const { method, path, fromRoot, headers } = request;
    const start = requestStart(
      { method, path: fromRoot === true ? path : this.#basePath + path, headers },
      this.#fixedLines,
    );
    this.#latest = { method, path, fromRoot, headers, start };
    return start;
  }
}

const startsAlike = (one: Beginning, other: Beginning): boolean =>
  one.headers === other.headers &&
  one.path === other.path &&
  one.method === other.method &&
  one.fromRoot === other.fromRoot;
