/** Runs the due tasks of all simulated streams with one timer. */

export interface Task {
  /** Time of the next run, on the clock's scale. The task moves it on; at or before now means as soon as possible. */
  due: number;
  run(now: number): void;
}

/** Time and timers; tests bring their own. */
export interface Clock {
  /** Milliseconds on a scale that only grows. */
  now(): number;
  /** Calls back once, in a later tick; returns what cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    if (milliseconds <= 0) {
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Streams that are due within the same few milliseconds share one wake-up. */
const grain = 4;

export class Ticker {
  readonly #clock: Clock;
  readonly #tasks = new Set<Task>();
  #wakeUp = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  add(task: Task): void {
    this.#tasks.add(task);
    if (task.due < this.#wakeUp) this.#arm(task.due, this.#clock.now());
  }

  remove(task: Task): void {
    if (!this.#tasks.delete(task) || this.#tasks.size > 0) return;
    this.#disarm();
  }

  #arm(due: number, now: number): void {
    this.#disarm();
    const delay = due <= now ? 0 : Math.max(grain, Math.ceil(due - now));
    this.#wakeUp = now + delay;
    this.#cancel = this.#clock.after(delay, this.#tick);
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#wakeUp = Number.POSITIVE_INFINITY;
  }

  readonly #tick = (): void => {
    // A task added while others run waits for the next round: this one always ends.
    this.#wakeUp = Number.NEGATIVE_INFINITY;
    const now = this.#clock.now();
    for (const task of [...this.#tasks]) {
      if (task.due <= now && this.#tasks.has(task)) task.run(now);
    }
    this.#disarm();
    let next = Number.POSITIVE_INFINITY;
    for (const task of this.#tasks) next = Math.min(next, task.due);
    if (next < Number.POSITIVE_INFINITY) this.#arm(next, this.#clock.now());
  };
}
