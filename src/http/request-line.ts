/** A request and what became of it in; one line of the log out. Made only where requests are logged. */
import type { Logger } from 'pino';
import type { Exchange, ReplyBody } from '../ports/exchange.ts';
import { lengthOf } from './answer-bytes.ts';

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

  /** The route's own path, not the one that was sent: ids and queries are nobody's business here. */
  write(
    { id, trace }: Pick<Exchange, 'id' | 'trace'>,
    method: string,
    route: string | undefined,
    status: number,
    cut: string | undefined,
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
