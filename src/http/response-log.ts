/** Logs and counts responses: a line for each, its cut, its trace, its failure. */
import type { Logger } from 'pino';
import { ApiError } from '../errors.ts';
import type { ReplyBody } from '../ports/exchange.ts';
import type { Served } from '../ports/served.ts';
import type { CutReason } from './edge-core.ts';
import type { HttpExchange } from './http-exchange.ts';
import { lengthOf } from './reply-bytes.ts';

/** The `request` line of the log; made only where requests are logged. */
export class RequestLine {
  readonly #log: Logger;
  #bytes = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  count(bytes: ReplyBody): void {
    this.#bytes += lengthOf(bytes);
  }

  /** The path of the route, not the one that was sent: that may hold ids, and its query secrets. */
  write(
    { id, trace, method, route, served }: HttpExchange,
    { status, begun }: Written,
    cut: CutReason | undefined,
  ): void {
    this.#log.info(
      {
        request_id: id,
        ...(trace === undefined ? {} : { trace_id: trace.id }),
        method,
        route: route?.path ?? null,
        status,
        ms: rounded(performance.now() - begun),
        bytes: this.#bytes,
        ...(cut === undefined ? {} : { cut }),
        ...(served === undefined ? {} : servedFields(served)),
      },
      'request',
    );
  }
}

/** Tokens and cost are missing where they are counted only after the response. */
const servedFields = (served: Served): Readonly<Record<string, unknown>> => {
  const { caller, model, lease, attempts, continuations, replica, engineMs, overheadMs, usage } = served;
  return {
    model: usage?.model ?? model,
    ...(usage?.requested_model === undefined ? {} : { requested_model: usage.requested_model }),
    subscription: caller.subscription,
    key: caller.key,
    queue_ms: rounded(lease.waited + served.queuedMs),
    ...(attempts === 0 ? {} : { replica, attempts, overhead_ms: known(overheadMs) }),
    ...(continuations === 0 ? {} : { continuations }),
    ...(engineMs < 0 ? {} : { engine_ms: rounded(engineMs) }),
    ...(usage === undefined ? {} : usageFields(usage)),
  };
};

const usageFields = ({ outcome, quantities, cost }: NonNullable<Served['usage']>) => ({
  outcome,
  prompt_tokens: quantities.prompt_tokens,
  completion_tokens: quantities.completion_tokens,
  cached_tokens: quantities.cached_tokens,
  cost,
});

const rounded = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
const known = (milliseconds: number): number | null => (milliseconds < 0 ? null : rounded(milliseconds));

interface Written {
  readonly status: number;
  readonly begun: number;
  readonly headAt: number;
  readonly line: RequestLine | undefined;
}

/** The response is sent, or was cut. */
export const logEnd = (exchange: HttpExchange, written: Written, cut?: CutReason): void => {
  const { line, status } = written;
  if (cut !== undefined) exchange.core.cuts[cut]++;
  exchange.trace?.end(status, cut);
  line?.write(exchange, written, cut);
  exchange.core.recent.add(exchange, written, cut);
};

/** What a client can read in its error response is logged only where the cause is ours; a cut stream always is. */
export const logFailure = (
  exchange: HttpExchange,
  error: ApiError,
  thrown: unknown,
  streaming: boolean,
): void => {
  // Where a stage threw it, it was logged there.
  if (thrown === exchange.failure && !(thrown instanceof ApiError)) return;
  if (error.kind === 'internal' || streaming)
    exchange.log.error({ err: thrown, route: exchange.route?.path ?? null }, 'request failed');
  else if (error.status >= 500 && error.cause !== undefined)
    exchange.log.warn({ err: error.cause, message: error.message }, 'request failed');
};
