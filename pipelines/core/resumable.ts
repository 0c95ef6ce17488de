/** Runs the rest of a route apart from its client, into a log that clients read and can come back to. */
import { Observable, type Observer, type Subscriber } from 'rxjs';
import type { ApiError } from '../../src/errors.ts';
import { copied } from '../../src/helpers/copied.ts';
import type {
  Caller,
  Exchange,
  Head,
  HeaderList,
  KeyedRequest,
  Reply,
  WholeReply,
} from '../../src/ports/exchange.ts';
import { type LiveRequest, servedSoFar } from '../../src/ports/live.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { StreamLog, StreamSource, Streams } from '../../src/ports/streams.ts';
import type { Leased } from './account.ts';
import { admit, type ExchangeOf, type Fits, type Nesting, type OfModel, type Request } from './admit.ts';
import { invalid } from './checks.ts';
import type { Composed } from './compose.ts';
import { DetachedExchange } from './detached-exchange.ts';
import { EventIds } from './event-ids.ts';
import { responseKey } from './frame.ts';
import { cancelledEvents } from './last-events.ts';
import { SourceSubscription } from './link.ts';

/** A request that may ask for it in its body; in a header each may. */
export interface ResumableDraft {
  readonly resumable?: Resumption | undefined;
}

export interface Resumption {
  /** For as long as the operator allows. */
  readonly longest?: true;
  /** The client waits for no events: it gets this, made of the first one. */
  readonly reply?: (opening: string) => WholeReply;
}

/** Asked for, with nothing else. */
export const resumption: Resumption = {};

/** What a request without a number of its own gets. */
const usualGraceMs = 60_000;

interface Admitting extends Pick<Ports, 'admission' | 'streams'> {}

/**
 * As `admit`. A request that asks to be resumable holds its slot as long as its stream runs, whoever reads that. Until
 * the head of the stream is out a client that leaves cancels: it has no id to come back with.
 */
export const admitResumable = <Draft extends OfModel & ResumableDraft, Context>(
  { admission, streams }: Admitting,
  inner: Composed<Draft, Reply, Context> & Fits<Leased<ExchangeOf<Context>>, Context>,
): Nesting<Draft, Reply, Request<Context> & KeyedRequest> => {
  const step = admit(admission, inner);
  const run = (draft: Draft, request: Request<Context> & KeyedRequest): Reply | Observable<Reply> => {
    const graceMs = graceOf(streams, request.exchange, draft.resumable);
    if (graceMs === 0) return step(draft, request);
    return new Observable<Reply>((subscriber) => {
      const detached = new DetachedRun(
        streams,
        request,
        { graceMs, reply: draft.resumable?.reply },
        subscriber,
      );
      subscriber.add(detached);
      detached.start(() =>
        step(draft, { ...request, exchange: detached.exchange as Exchange as typeof request.exchange }),
      );
    });
  };
  return Object.assign(run, { inner });
};

const seconds = /^\d{1,9}$/;

/** Milliseconds; 0: a plain stream. */
const graceOf = (streams: Streams, exchange: Exchange, asked: Resumption | undefined): number => {
  const text = exchange.header('sluice-resumable');
  if (text === '' && asked === undefined) return 0;
  if (text !== '' && !seconds.test(text))
    throw invalid('Sluice-Resumable must be a number of seconds', { param: null });
  const { mostGraceMs } = streams;
  if (asked?.longest === true) return mostGraceMs;
  return Math.min(text === '' ? usualGraceMs : Number(text) * 1000, mostGraceMs);
};

/** Ids of streams end like those of their request and their response. */
export const streamPrefix = 'stream_';

interface RunOptions {
  readonly graceMs: number;
  readonly reply: Resumption['reply'];
}

/** Observes the pipeline. Clients read the log, the first one too. */
class DetachedRun implements Observer<Reply>, StreamSource {
  readonly exchange: DetachedExchange;
  readonly #client: Exchange;
  readonly #caller: Caller;
  readonly #begun = performance.now();
  readonly #options: RunOptions;
  readonly #subscriber: Subscriber<Reply>;
  readonly #source = new SourceSubscription();
  readonly #ids = new EventIds();
  readonly #log: StreamLog;
  readonly #key: string;
  #opening = '';
  /** before: nothing came; log: events go to the log; through: it is no event stream; over: nothing more is wanted. */
  #phase: 'before' | 'log' | 'through' | 'over' = 'before';
  #published = false;
  /** The client was given the id. */
  #announced = false;

  constructor(
    streams: Streams,
    { exchange, caller }: KeyedRequest,
    options: RunOptions,
    subscriber: Subscriber<Reply>,
  ) {
    this.exchange = new DetachedExchange(exchange);
    this.#client = exchange;
    this.#caller = caller;
    this.#options = options;
    this.#subscriber = subscriber;
    this.#key = responseKey(exchange);
    this.#log = streams.open({
      id: this.#key,
      subscription: caller.subscription,
      graceMs: options.graceMs,
      source: this,
    });
  }

  start(run: () => Reply | Observable<Reply>): void {
    try {
      const replies = run();
      if (replies instanceof Observable) this.#source.connect(replies, this);
      else {
        this.next(replies);
        this.complete();
      }
    } catch (thrown) {
      this.error(thrown);
    }
  }

  /** The client is gone. */
  unsubscribe(): void {
    if (this.#phase === 'over' || this.#announced) return;
    this.#phase = 'over';
    this.#source.unsubscribe();
    this.#log.discard();
  }

  // ── from the pipeline ────────────────────────────────────────────────────────────────────────────

  next(reply: Reply): void {
    try {
      if (this.#phase === 'log' && reply.kind === 'bytes') this.#append(reply.bytes);
      else if (this.#phase === 'before' && reply.kind === 'head' && isEvents(reply)) this.#begin(reply);
      else if (this.#phase !== 'over') this.#passOn(reply);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  complete(): void {
    const phase = this.#phase;
    this.#phase = 'over';
    if (phase === 'log') this.#log.end();
    else if (phase !== 'over') {
      this.#log.discard();
      this.#subscriber.complete();
    }
  }

  error(thrown: unknown): void {
    const phase = this.#phase;
    this.#phase = 'over';
    if (phase === 'log') {
      this.exchange.log.error({ err: thrown }, 'stream failed');
      this.#log.end(thrown);
      if (this.#announced) return;
    } else if (phase === 'over' && this.#announced) return;
    this.#client.failure ??= this.exchange.failure;
    this.#log.discard();
    this.#subscriber.error(thrown);
  }

  #begin(head: Head): void {
    this.#phase = 'log';
    const published = this.#log.publish();
    if (published === undefined) this.#announce(head);
    else published.then(() => this.#announce(head)).catch((thrown: unknown) => this.#fail(thrown));
  }

  /** What the engine has generated by then is not billed. */
  #fail(thrown: unknown): void {
    this.exchange.failure ??= thrown;
    this.#source.unsubscribe();
    this.error(thrown);
  }

  #announce(head: Head): void {
    if (this.#announced || this.#subscriber.closed) return;
    this.#published = true;
    if (this.#options.reply !== undefined) {
      this.#replyOnce();
      return;
    }
    this.#announced = true;
    this.#client.stream = { error: (error) => this.fail(error) };
    this.#subscriber.next({ ...head, headers: { ...head.headers, ...this.#headers() } });
    this.#subscriber.add(
      this.#log.read(this.#client.backpressure).subscribe({
        next: (bytes) => this.#subscriber.next({ kind: 'bytes', bytes }),
        error: (error: unknown) => this.#subscriber.error(error),
        complete: () => {
          this.#client.stream = undefined;
          this.#subscriber.complete();
        },
      }),
    );
  }

  /** Made of the first event, once other gateways know the stream. */
  #replyOnce(): void {
    const { reply } = this.#options;
    if (this.#opening === '' || reply === undefined || !this.#published || this.#announced) return;
    this.#announced = true;
    const whole = reply(this.#opening);
    this.#subscriber.next({ ...whole, headers: { ...whole.headers, ...this.#headers() } });
    this.#subscriber.complete();
  }

  #headers(): HeaderList {
    return {
      'x-stream-id': streamPrefix + this.#key,
      'sluice-resumable': String(Math.floor(this.#options.graceMs / 1000)),
    };
  }

  #append(bytes: string | Uint8Array): void {
    const before = this.#ids.next;
    const text = this.#ids.number(bytes);
    const count = this.#ids.next - before;
    if (count === 0) return;
    if (this.#opening === '') this.#opening = copied(text.slice(0, text.indexOf('\n\n') + 2));
    this.#log.append(text, count);
    if (!this.#announced && this.#options.reply !== undefined) this.#replyOnce();
  }

  #passOn(reply: Reply): void {
    if (this.#phase === 'before') {
      this.#phase = 'through';
      this.#client.stream = this.exchange.stream;
      this.#client.backpressure.attach(this);
      // The log stays empty.
      this.#log.discard();
    }
    this.#subscriber.next(reply);
  }

  // ── from the log, or the client of a response that has none ──────────────────────────────────────

  pause(): void {
    this.exchange.backpressure.pause();
  }

  resume(): void {
    this.exchange.backpressure.resume();
  }

  cancel(): void {
    if (this.#phase !== 'log') return;
    this.#phase = 'over';
    this.#source.unsubscribe();
    const { text, count } = cancelledEvents(this.#opening, this.#ids.next);
    this.#log.append(text, count);
    this.#log.end();
  }

  live(): LiveRequest {
    const { id, method, path, served } = this.exchange;
    return {
      ...{ id, method, route: path.replace(/^\/v1(?=\/)/, ''), state: 'streaming' },
      subscription: this.#caller.subscription,
      key: this.#caller.key,
      age_ms: Math.round(performance.now() - this.#begun),
      ...servedSoFar(served, { begun: this.#begun }),
      // Its log is read by others, each at its own pace.
      ...{ slow_reader: this.exchange.backpressure.paused, unread_bytes: 0 },
    };
  }

  /** Ends it with a failure inside, where its format has one. */
  fail(error: ApiError): void {
    const { stream } = this.exchange;
    if (stream === undefined) this.cancel();
    else stream.error(error);
  }
}

const isEvents = ({ headers }: Head): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true;
