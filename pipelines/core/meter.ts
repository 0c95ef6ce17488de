/** The transforms that meter a response: one counts its parts, one keeps its usage event before it ends. */
import type { Observable, Observer } from 'rxjs';
import { asApiError } from '../../src/errors.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import type { Account, Admitted, Outcome, UsageSource } from './account.ts';
import { Forwarder, type PartObserver, type Transform, transform } from './stage.ts';

export type Metered<Uses> = Admitted<unknown, Uses, Pick<Exchange, 'log' | 'failure'>>;

/** Adds every part to the request's account. */
export const count = <Part>(): Transform<Part, Part, Metered<Account<Part>>> =>
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

/** Holds the end of a response until its usage event is durable: one event, however the request ends. */
export const record = <Part>(usage: UsageLog): Transform<Part, Part, Metered<UsageSource>> =>
  transform((next, admitted) => new Recorder(next, usage, admitted));

/** What the log says of a client that closed the connection; no response carries it. */
const clientClosed = 499;

export class Recorder<Part> implements PartObserver<Part> {
  protected readonly receiver: Observer<Part>;
  readonly #usage: UsageLog;
  readonly #admitted: Metered<UsageSource>;
  #ended = false;

  constructor(receiver: Observer<Part>, usage: UsageLog, admitted: Metered<UsageSource>) {
    this.receiver = receiver;
    this.#usage = usage;
    this.#admitted = admitted;
  }

  next(part: Part): void {
    this.receiver.next(part);
  }

  complete(): void {
    this.#keep('completed', 200).subscribe({
      complete: () => this.completed(),
      error: (error) => this.receiver.error(error),
    });
  }

  /** The event is durable. */
  protected completed(): void {
    this.receiver.complete();
  }

  error(error: unknown): void {
    const failed = (): void => this.receiver.error(error);
    this.#keep('failed', asApiError(error).status).subscribe({ complete: failed, error: failed });
  }

  /** The client left, or a later stage threw; what was kept by then stays as it is. */
  onTeardown(): void {
    if (this.#ended) return;
    const { failure, log } = this.#admitted.exchange;
    const kept =
      failure === undefined
        ? this.#keep('cancelled', clientClosed)
        : this.#keep('failed', asApiError(failure).status);
    kept.subscribe({ error: (error) => log.error({ err: error }, 'usage event not kept') });
  }

  #keep(outcome: Outcome, status: number): Observable<void> {
    this.#ended = true;
    return this.#usage.record(this.#admitted.account.event(outcome, status));
  }
}

/** The same for a response of one part: that is held, too, until the event is durable. */
export const recordWhole = <Part>(usage: UsageLog): Transform<Part, Part, Metered<UsageSource>> =>
  transform((next, admitted) => new WholeRecorder(next, usage, admitted));

class WholeRecorder<Part> extends Recorder<Part> {
  #part: Part | undefined;

  override next(part: Part): void {
    this.#part = part;
  }

  protected override completed(): void {
    if (this.#part !== undefined) this.receiver.next(this.#part);
    super.completed();
  }
}
