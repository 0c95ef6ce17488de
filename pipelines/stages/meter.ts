/**
 * An engine's parts in; the same out, ended by one `usage` or `failure` part that is held until the request's usage
 * event is safe. One event per request, however it ends: completed, failed, or left by the client.
 */
import { type MonoTypeOperatorFunction, Observable, Subscriber } from 'rxjs';
import { asApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import type { ChatTask } from './chat-task.ts';
import { Tally } from './tally.ts';
import { type Metered, UsageRecord } from './usage-event.ts';

/** Characters of one request's answers; an engine that says more does not stop by itself. */
const longestAnswer = 64 * 1024 * 1024;

export const meter =
  (usage: UsageLog, metered: Metered<ChatTask<unknown>>): MonoTypeOperatorFunction<Parts> =>
  (source) =>
    new Observable((subscriber) => source.subscribe(new Meter(subscriber, usage, metered)));

class Meter extends Subscriber<Parts> {
  readonly #receiver: Subscriber<Parts>;
  readonly #tally: Tally;
  readonly #record: UsageRecord;
  #failure: Extract<Part, { type: 'failure' }> | undefined;

  constructor(receiver: Subscriber<Parts>, usage: UsageLog, metered: Metered<ChatTask<unknown>>) {
    super(receiver);
    const tally = new Tally(metered);
    this.#receiver = receiver;
    this.#tally = tally;
    this.#record = new UsageRecord(usage, metered.exchange, (outcome, status) =>
      tally.event(outcome, status),
    );
  }

  protected override _next(parts: Parts): void {
    if (this.#record.ended) return;
    let ending = false;
    for (const part of parts) {
      this.#tally.add(part);
      if (part.type === 'usage') ending = true;
      else if (part.type === 'failure') {
        ending = true;
        this.#failure = part;
      }
    }
    const rest = ending ? parts.filter(isContent) : parts;
    if (rest.length > 0) this.#receiver.next(rest);
    if (this.#tally.characters > longestAnswer) {
      this.#failure = { type: 'failure', error: fail('engine_unreachable', 'The model did not stop') };
      this.#end();
    }
  }

  protected override _complete(): void {
    if (!this.#record.ended) this.#end();
    this.unsubscribe();
  }

  protected override _error(error: unknown): void {
    const failed = (): void => this.#receiver.error(error);
    this.#record.failed(error).subscribe(new Kept(failed, failed));
    this.unsubscribe();
  }

  /** The receiver is done, or has left. */
  override unsubscribe(): void {
    super.unsubscribe();
    this.#record.left();
  }

  #end(): void {
    const failure = this.#failure;
    const kept = failure === undefined ? this.#record.completed() : this.#record.failed(failure.error);
    const ending = failure ?? { type: 'usage', usage: this.#tally.usage() };
    kept.subscribe(
      new Kept(
        () => this.#last(ending),
        (error) => this.#last({ type: 'failure', error: asApiError(error) }),
      ),
    );
  }

  #last(part: Part): void {
    this.#receiver.next([part]);
    this.#receiver.complete();
  }
}

/** Hears how the keeping of an event ends; not undone when the client leaves meanwhile. */
class Kept extends Subscriber<void> {
  readonly #done: () => void;
  readonly #failed: (error: unknown) => void;

  constructor(done: () => void, failed: (error: unknown) => void) {
    super();
    this.#done = done;
    this.#failed = failed;
  }

  protected override _complete(): void {
    this.#done();
  }

  protected override _error(error: unknown): void {
    this.#failed(error);
  }
}

const isContent = ({ type }: Part): boolean => type !== 'usage' && type !== 'failure';
