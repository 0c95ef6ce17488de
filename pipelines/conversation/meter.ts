/**
 * An engine's parts in; the same out, ended by one `usage` or `failure` part that is held until the request's usage
 * event is safe. One event per request, however it ends: completed, failed, or left by the client.
 */
import { type Observable, type Observer, Subscriber } from 'rxjs';
import { asApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import type { Stage } from '../core/relay.ts';
import { type Metered, UsageRecord } from '../core/usage-event.ts';
import type { PartsStage } from './answering.ts';
import type { ChatTask } from './chat-task.ts';
import { Tally } from './tally.ts';

/** Characters of one request's answers; an engine that says more does not stop by itself. */
const longestAnswer = 64 * 1024 * 1024;

export const meter =
  (usage: UsageLog): PartsStage =>
  (next, request) =>
    new Meter(next, usage, request);

class Meter implements Stage<Parts> {
  readonly #receiver: Observer<Parts>;
  readonly #tally: Tally;
  readonly #record: UsageRecord;
  #failure: Extract<Part, { type: 'failure' }> | undefined;

  constructor(receiver: Observer<Parts>, usage: UsageLog, metered: Metered<ChatTask<unknown>>) {
    this.#receiver = receiver;
    this.#tally = new Tally(metered);
    this.#record = new UsageRecord(usage, metered.exchange, this.#tally);
  }

  next(parts: Parts): void {
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
    const rest = ending ? contentOf(parts) : parts;
    if (rest.length > 0) this.#receiver.next(rest);
    if (this.#tally.characters > longestAnswer) {
      this.#failure = { type: 'failure', error: fail('engine_unreachable', 'The model did not stop') };
      this.#end();
    }
  }

  complete(): void {
    if (!this.#record.ended) this.#end();
  }

  error(error: unknown): void {
    if (this.#record.ended) return;
    const failed = (): void => this.#receiver.error(error);
    this.#record.failed(error).subscribe({ complete: failed, error: failed });
  }

  left(): void {
    this.#record.left();
  }

  #end(): void {
    const failure = this.#failure;
    if (failure !== undefined) this.#hold(this.#record.failed(failure.error), failure);
    else this.#hold(this.#record.completed(), { type: 'usage', usage: this.#tally.usage() });
  }

  #hold(kept: Observable<void>, ending: Part): void {
    kept.subscribe(new Held(this.#receiver, ending));
  }
}

/** The last part waits until its event is kept; that is not undone when the client leaves meanwhile. */
class Held extends Subscriber<void> {
  readonly #receiver: Observer<Parts>;
  readonly #ending: Part;

  constructor(receiver: Observer<Parts>, ending: Part) {
    super();
    this.#receiver = receiver;
    this.#ending = ending;
  }

  protected override _complete(): void {
    this.#say(this.#ending);
  }

  protected override _error(error: unknown): void {
    this.#say({ type: 'failure', error: asApiError(error) });
  }

  #say(ending: Part): void {
    this.#receiver.next([ending]);
    this.#receiver.complete();
  }
}

/** An ending is mostly the last of them. */
const contentOf = (parts: Parts): Parts => {
  const before = parts.slice(0, -1);
  return before.every(isContent) ? before : parts.filter(isContent);
};

const isContent = ({ type }: Part): boolean => type !== 'usage' && type !== 'failure';
