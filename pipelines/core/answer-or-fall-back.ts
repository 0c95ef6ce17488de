/** Calls the engine of a task, and the fallbacks of its model while nothing has come of an answer. */
import { Observable, type Observer, type Subscriber, Subscription, type Unsubscribable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { ApiError, type FallbackReason } from '../../src/errors.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import type { Quota } from '../../src/ports/quotas.ts';
import type { UsageSource } from './account.ts';
import type { FallbackTasks } from './fallbacks.ts';

interface ModelTask {
  readonly model: Model;
}

/** The task of the request is replaced by that of the model which answers. */
interface Slot {
  readonly exchange: Pick<Exchange, 'log' | 'stream'>;
  task?: unknown;
  readonly account?: unknown;
  readonly quota?: Quota | undefined;
}

interface Setting<Task, Part> {
  readonly task: Task;
  readonly fallbacks: FallbackTasks<Task>;
  readonly slot: Slot;
  /** May throw. */
  readonly send: (task: Task) => Observable<Part>;
}

/** Where none answers, the error is that of the model that was asked for. */
export const answerOrFallBack = <Task extends ModelTask, Part>(
  setting: Setting<Task, Part>,
): Observable<Part> =>
  new Observable((subscriber) => {
    const call = new FallbackCall(setting, subscriber);
    call.start(setting.task);
    return call;
  });

class FallbackCall<Task extends ModelTask, Part> implements Unsubscribable {
  readonly #setting: Setting<Task, Part>;
  readonly #subscriber: Subscriber<Part>;
  /** Whatever runs now: a task that is prepared, or an answer. */
  #running = new Subscription();
  #answered = false;
  /** Of the model that was asked for. */
  #error: unknown;
  /** Those that were not tried yet; undefined until the first is needed. */
  #left: Model[] | undefined;

  constructor(setting: Setting<Task, Part>, subscriber: Subscriber<Part>) {
    this.#setting = setting;
    this.#subscriber = subscriber;
  }

  unsubscribe(): void {
    this.#running.unsubscribe();
  }

  start(task: Task): void {
    let parts: Observable<Part>;
    try {
      parts = this.#setting.send(task);
    } catch (thrown) {
      this.#failed(task.model, thrown);
      return;
    }
    this.#run(parts, {
      next: (part) => {
        this.#answered = true;
        this.#subscriber.next(part);
      },
      error: (error: unknown) => this.#failed(task.model, error),
      complete: () => this.#subscriber.complete(),
    });
  }

  #failed(model: Model, error: unknown): void {
    const { slot } = this.#setting;
    const reason = error instanceof ApiError ? error.fallback : undefined;
    this.#error ??= error;
    // Once a head is sent the answer has begun, whoever writes it.
    if (this.#answered) this.#subscriber.error(error);
    else if (reason === undefined || slot.exchange.stream !== undefined) this.#giveUp();
    else this.#next(model, reason, error);
  }

  #next(from: Model, reason: FallbackReason, error: unknown): void {
    const { fallbacks, slot, task: asked } = this.#setting;
    const model = this.#takeModel();
    if (model === undefined) {
      this.#giveUp();
      return;
    }
    const { log } = slot.exchange;
    let prepared: Task | undefined;
    this.#run(fallbacks.taskFor(model), {
      next: (task) => {
        prepared = task;
      },
      error: (refusal: unknown) => {
        log.info({ model: from.id, fallback: model.id, err: refusal }, 'model fallback skipped');
        this.#next(from, reason, error);
      },
      complete: () => {
        if (prepared === undefined) return;
        slot.task = { ...prepared, requested: asked.model };
        if (!isCovered(slot)) {
          log.info({ model: from.id, fallback: model.id }, 'model fallback skipped: more than is reserved');
          this.#next(from, reason, error);
          return;
        }
        const cause = error instanceof ApiError ? (error.cause ?? error) : error;
        log.warn({ model: from.id, fallback: model.id, reason, err: cause }, 'model fallback');
        fallbacks.handOver(from.id, model.id, reason);
        this.start(prepared);
      },
    });
  }

  #takeModel(): Model | undefined {
    try {
      this.#left ??= [...this.#setting.fallbacks.models()];
    } catch {
      // It is not known what is served now: that is no reason for another error than the one there is.
      this.#left = [];
    }
    return this.#left.shift();
  }

  #giveUp(): void {
    this.#setting.slot.task = this.#setting.task;
    this.#subscriber.error(this.#error);
  }

  /** A source may end before `subscribe` has returned, and the next one may then be running. */
  #run<Value>(source: Observable<Value>, observer: Observer<Value>): void {
    this.#running.unsubscribe();
    const running = new Subscription();
    this.#running = running;
    if (this.#subscriber.closed) return;
    running.add(source.subscribe(observer));
  }
}

/** What the call of the slot's task can use is reserved. */
const isCovered = ({ quota, account }: Slot): boolean => {
  const most = quota === undefined ? undefined : (account as UsageSource | undefined)?.most?.();
  return most === undefined || quota?.covers(most) === true;
};
