/** The exchange of a pipeline that outlives its client: the request as it came, but a pace and an end of its own. */
import type { Logger } from 'pino';
import type { ErrorDialect } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type {
  Breakable,
  Exchange,
  HeaderName,
  IncomingBody,
  SessionHeader,
} from '../../src/ports/exchange.ts';
import type { Served } from '../../src/ports/served.ts';
import type { Trace } from '../../src/ports/trace.ts';

export class DetachedExchange implements Exchange {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly params: Exchange['params'];
  readonly query: string;
  readonly body: IncomingBody;
  readonly backpressure = new Backpressure();
  readonly dialect: ErrorDialect;
  readonly trace: Trace | undefined;
  readonly session: string | undefined;
  stream: Breakable | undefined;
  failure: unknown;
  readonly #client: Exchange;

  constructor(client: Exchange) {
    this.#client = client;
    this.id = client.id;
    this.method = client.method;
    this.path = client.path;
    this.params = client.params;
    this.query = client.query;
    this.body = client.body;
    this.dialect = client.dialect;
    this.trace = client.trace;
    this.session = client.session;
  }

  get log(): Logger {
    return this.#client.log;
  }

  header(name: HeaderName | SessionHeader): string {
    return this.#client.header(name);
  }

  /** Its headers are those of the client's response. */
  get served(): Served | undefined {
    return this.#client.served;
  }

  set served(served: Served | undefined) {
    this.#client.served = served;
  }

  get queuedFor(): string | undefined {
    return this.#client.queuedFor;
  }

  set queuedFor(model: string | undefined) {
    this.#client.queuedFor = model;
  }
}
