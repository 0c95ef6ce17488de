/** The two ends of metering: `count` adds the parts of a response to its account, `record` keeps the usage event. */
import {
  concat,
  defer,
  finalize,
  type MonoTypeOperatorFunction,
  type Observable,
  type Observer,
  pipe,
  tap,
} from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { asApiError } from '../../src/errors.ts';
import type { Breakable, Exchange, Head, Reply } from '../../src/ports/exchange.ts';
import type { Quota } from '../../src/ports/quotas.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import type { Account, Outcome, UsageSource } from './account.ts';
import { type Reporter, reportThrow } from './link.ts';
import type { FramedReply } from './paced-bytes.ts';
import { Forwarder, type PartObserver, type Transform, transform } from './stage.ts';

/** Adds every part to the request's account. */
export const count = <Part>(): Transform<Part, Part, { readonly account: Account<Part> }> =>
  transform((next, { account }) => new Counter(next, account));

class Counter<Part> extends Forwarder<Part, Part> {
  readonly #account: Account<Part>;

  constructor(receiver: Observer<Part>, account: Account<Part>) {
    super(receiver);
    this.#account = account;
  }

  next(part: Part): void {
    this.#account.add(part);
    this.receiver.next(part);
  }
}

export interface Metered {
  readonly exchange: Reporter;
  readonly account: UsageSource;
  readonly quota?: Quota | undefined;
}

interface MeteredReply extends Metered {
  readonly exchange: Reporter & Pick<Exchange, 'stream'>;
}

/**
 * Ends a metered route: holds the last reply until the usage event is durable; only `writePaced` may follow. One
 * event, however the request ends; what fails in any stage before this one is recorded as failed.
 */
export const record = <Framed extends FramedReply = Reply>(
  usage: UsageLog,
): Transform<Framed, Framed, MeteredReply> =>
  transform((next, metered) => new ReplyRecorder(next as Observer<FramedReply>, usage, metered));

/** The same for values that no client reads. */
export const recordValue = <Part>(usage: UsageLog): Transform<Part, Part, Metered> =>
  transform((next, metered) => new Recorder(next, usage, metered));

/** What the log says of a client that closed the connection; no response carries it. */
const clientClosed = 499;

class Recorder<Part> implements PartObserver<Part> {
  protected readonly receiver: Observer<Part>;
  protected last: Part | undefined;
  readonly #usage: UsageLog;
  protected readonly metered: Metered;
  /** The event is made: what comes after it is not counted. */
  protected ended = false;

  constructor(receiver: Observer<Part>, usage: UsageLog, metered: Metered) {
    this.receiver = receiver;
    this.#usage = usage;
    this.metered = metered;
  }

  next(part: Part): void {
    if (this.last !== undefined) this.receiver.next(this.last);
    this.last = part;
  }

  complete(): void {
    this.#keep('completed', 200).subscribe({
      complete: () => this.completed(),
      error: (error) => this.failed(error),
    });
  }

  error(error: unknown): void {
    const failed = (): void => this.failed(error);
    this.#keep('failed', asApiError(error).status).subscribe({ complete: failed, error: failed });
  }

  /** The client left, or got an error that no stage has seen. An event that is on its way stays as it is. */
  onTeardown(): void {
    if (this.ended) return;
    const { failure, log } = this.metered.exchange;
    const kept =
      failure === undefined
        ? this.#keep('cancelled', clientClosed)
        : this.#keep('failed', asApiError(failure).status);
    kept.subscribe({ error: (error) => log.error({ err: error }, 'usage event not kept') });
  }

  protected completed(): void {
    if (this.last !== undefined) this.receiver.next(this.last);
    this.receiver.complete();
  }

  protected failed(error: unknown): void {
    this.receiver.error(error);
  }

  #keep(outcome: Outcome, status: number): Observable<void> {
    this.ended = true;
    const { account, exchange, quota } = this.metered;
    let event: UsageEvent | undefined;
    const record = (): Observable<void> => {
      event = account.event(outcome, status);
      if (exchange.served !== undefined) {
        exchange.served.usage = event;
        exchange.served.billedAt = performance.now();
      }
      return this.#usage.record(event);
    };
    // A client that left pays for what it was sent: the engine has not counted that.
    const counted = outcome === 'cancelled' ? account.counted?.() : undefined;
    const recorded = counted === undefined ? record() : concat(counted, defer(record));
    if (quota === undefined) return recorded;
    quota.expectEvent();
    return recorded.pipe(settling(quota, () => event));
  }
}

/** A stream whose head says how failures are reported inside can be ended from outside, too. */
class ReplyRecorder extends Recorder<FramedReply> implements Breakable {
  readonly #exchange: MeteredReply['exchange'];
  #failure: Head['failure'];

  constructor(receiver: Observer<FramedReply>, usage: UsageLog, metered: MeteredReply) {
    super(receiver, usage, metered);
    this.#exchange = metered.exchange;
  }

  override next(reply: FramedReply): void {
    if (this.ended) return;
    if (isLast(reply)) this.last = reply;
    else {
      if (reply.kind === 'head') this.#started(reply);
      this.receiver.next(reply);
    }
  }

  override complete(): void {
    if (!this.ended) super.complete();
  }

  override error(error: unknown): void {
    if (!this.ended) super.error(error);
  }

  #started({ failure }: Head): void {
    this.#failure = failure;
    if (failure !== undefined) this.#exchange.stream = this;
  }

  protected override completed(): void {
    this.#exchange.stream = undefined;
    super.completed();
  }

  /** A stream that has begun can only report a failure inside. */
  protected override failed(error: unknown): void {
    this.#exchange.stream = undefined;
    const report = this.#failure;
    if (report === undefined) {
      this.receiver.error(error);
      return;
    }
    // The edge sees a stream that ends well: what was not expected is logged here.
    reportThrow(this.metered.exchange, error);
    try {
      this.receiver.next({ kind: 'bytes', bytes: report(asApiError(error)), last: true });
      this.receiver.complete();
    } catch (thrown) {
      this.receiver.error(thrown);
    }
  }
}

/** With an event that is durable; one that could not be kept costs nothing. */
const settling = (quota: Quota, event: () => UsageEvent | undefined): MonoTypeOperatorFunction<void> =>
  pipe(
    tap({ complete: () => quota.settle(event()) }),
    finalize(() => quota.settle(undefined)),
  );

const isLast = (reply: FramedReply): boolean =>
  reply.kind === 'whole' || reply.kind === 'paced' || (reply.kind === 'bytes' && reply.last === true);
