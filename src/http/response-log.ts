/** Logs and counts responses: a line for each, its cut, its trace, its failure. */
import type { Logger } from 'pino';
import type { ApiError } from '../errors.ts';
import type { Exchange, ReplyBody } from '../ports/exchange.ts';
import type { CutReason, EdgeCore } from './edge-core.ts';
import { lengthOf } from './reply-bytes.ts';
import type { ServedRoute } from './route-table.ts';

/** The `request` line of the log; made only where requests are logged. */
export class RequestLine {
  readonly #log: Logger;
  readonly #start = performance.now();
  #bytes = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  count(bytes: ReplyBody): void {
    this.#bytes += lengthOf(bytes);
  }

  /** The path of the route, not the one that was sent: that may hold ids, and its query secrets. */
  write(
    { id, trace, method }: Exchange,
    route: string | undefined,
    status: number,
    cut: CutReason | undefined,
  ): void {
    this.#log.info(
      {
        request_id: id,
        ...(trace === undefined ? {} : { trace_id: trace.id }),
        method,
        route: route ?? null,
        status,
        ms: Math.round((performance.now() - this.#start) * 10) / 10,
        bytes: this.#bytes,
        ...(cut === undefined ? {} : { cut }),
      },
      'request',
    );
  }
}

/** The response is sent, or was cut. */
export const logEnd = (
  core: EdgeCore,
  exchange: Exchange,
  route: ServedRoute | undefined,
  { status, line }: { readonly status: number; readonly line: RequestLine | undefined },
  cut?: CutReason,
): void => {
  if (cut !== undefined) core.cuts[cut]++;
  exchange.trace?.end(status, cut);
  line?.write(exchange, route?.path, status, cut);
};

/** What a client can read in its error response is logged only where the cause is ours; a cut stream always is. */
export const logFailure = (
  { log }: Exchange,
  route: ServedRoute | undefined,
  error: ApiError,
  thrown: unknown,
  streaming: boolean,
): void => {
  if (error.kind === 'internal' || streaming)
    log.error({ err: thrown, route: route?.path ?? null }, 'request failed');
  else if (error.status >= 500 && error.cause !== undefined)
    log.warn({ err: error.cause, message: error.message }, 'request failed');
};
