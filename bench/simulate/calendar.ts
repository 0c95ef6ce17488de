/** Virtual time: events are served in the order of their times, an eighth of a millisecond of them at once. */

export interface TimedEvent {
  /** Milliseconds. */
  at: number;
  fire(): void;
}

/** A ring of ticks: adding is O(1), where a heap with a million streams would take twenty steps. */
const perMillisecond = 8;
const ringSize = 1 << 18;

export const tickMs = 1 / perMillisecond;

export class Calendar {
  readonly #ticks: TimedEvent[][] = Array.from({ length: ringSize }, () => []);
  #empty: TimedEvent[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  /** Within half a minute from now. What is due in the tick that is being served comes after its other events. */
  add(event: TimedEvent): void {
    const tick = Math.floor(event.at * perMillisecond);
    const ahead = tick - Math.floor(this.#now * perMillisecond);
    if (!(ahead >= 0 && ahead < ringSize)) throw new Error(`${event.at} is too far from ${this.#now}`);
    this.#ticks[tick & (ringSize - 1)]?.push(event);
  }

  runUntil(end: number): void {
    for (let tick = Math.floor(this.#now * perMillisecond); tick < end * perMillisecond; tick++) {
      const index = tick & (ringSize - 1);
      for (let due = this.#ticks[index] ?? []; due.length > 0; due = this.#ticks[index] ?? []) {
        this.#ticks[index] = this.#empty;
        due.sort(byTime);
        for (const event of due) {
          if (event.at > this.#now) this.#now = event.at;
          event.fire();
        }
        due.length = 0;
        this.#empty = due;
      }
    }
    this.#now = end;
  }
}

const byTime = (one: TimedEvent, other: TimedEvent): number => one.at - other.at;
