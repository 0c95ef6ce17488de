/** The exchange that a pipeline sees, on top of a request's channel. */
import type { Logger } from 'pino';
import type { ErrorDialect } from '../errors.ts';
import type { RouteStats } from '../metrics/route-stats.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type {
  Breakable,
  Caller,
  Exchange,
  HeaderName,
  IncomingBody,
  SessionHeader,
} from '../ports/exchange.ts';
import type { Served } from '../ports/served.ts';
import type { Trace } from '../ports/trace.ts';
import { propagated } from '../tracing/trace-context.ts';
import { emptyBody, type RequestBody } from './body/request-body.ts';
import type { EdgeCore } from './edge-core.ts';
import type { Params, ServedRoute } from './route-table.ts';
import type { Channel } from './servers/channel.ts';

const noParams: Params = {};

export class HttpExchange implements Exchange {
  readonly core: EdgeCore;
  readonly channel: Channel;
  readonly route: ServedRoute | undefined;
  /** Undefined where the request has no body. */
  readonly upload: RequestBody | undefined;
  readonly id: string;
  readonly params: Params;
  readonly backpressure = new Backpressure();
  readonly trace: Trace | undefined;
  served: Served | undefined;
  queuedFor: string | undefined;
  /** Undefined on public routes, and until it is known. */
  caller: Caller | undefined;
  /** When the last byte of its body was here; 0 until then. */
  received = 0;
  session: string | undefined;
  stream: Breakable | undefined;
  failure: unknown;
  #log: Logger | undefined;

  constructor(
    core: EdgeCore,
    channel: Channel,
    route: ServedRoute | undefined,
    params: Params | undefined,
    upload: RequestBody | undefined,
  ) {
    this.core = core;
    this.channel = channel;
    this.route = route;
    this.upload = upload;
    this.id = core.nextId();
    this.params = params ?? noParams;
    this.trace = traceOf(core, channel, route, this.id);
  }

  get body(): IncomingBody {
    return this.upload ?? emptyBody;
  }

  /** Counts of its route, or of all requests without one. */
  get stats(): RouteStats {
    return this.route?.stats ?? this.core.unrouted;
  }

  get method(): string {
    return this.channel.method;
  }

  get path(): string {
    return this.channel.path;
  }

  get query(): string {
    return this.channel.query;
  }

  header(name: HeaderName | SessionHeader): string {
    return this.channel.header(name);
  }

  get dialect(): ErrorDialect {
    const { route } = this;
    const errors = route === undefined ? this.core.routes.errorsNear(this.channel.path) : route.errors;
    return typeof errors === 'function'
      ? errors((name) => this.channel.header(name))
      : (errors ?? 'envelope');
  }

  /** Created on first use: most requests log nothing of their own. */
  get log(): Logger {
    this.#log ??= this.core.log.child(
      this.trace === undefined ? { request_id: this.id } : { request_id: this.id, trace_id: this.trace.id },
    );
    return this.#log;
  }
}

/** One header is read for a request without a trace while nothing is recorded. */
const traceOf = (
  { tracing }: EdgeCore,
  channel: Channel,
  route: ServedRoute | undefined,
  id: string,
): Trace | undefined => {
  const traceparent = channel.header('traceparent');
  if (tracing === undefined)
    return traceparent === '' ? undefined : propagated(traceparent, channel.header('tracestate'));
  const tracestate = traceparent === '' ? '' : channel.header('tracestate');
  return tracing.begin({ id, method: channel.method, route: route?.path, traceparent, tracestate });
};
