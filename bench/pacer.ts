/** Paces many streams on one shared timer, each with its own phase and without drift. */

export interface Paced {
  /** Milliseconds between two tokens. */
  readonly period: number;
  /** When the next token is due; advanced by the pacer. */
  due: number;
  /** Emits one token; false when the stream is complete. */
  speak(): boolean;
}

const slotCount = 4096;

export class Pacer {
  readonly #slots: Paced[][] = Array.from({ length: slotCount }, () => []);
  #running = 0;
  #clock = 0;
  #timer: NodeJS.Timeout | undefined;

  add(stream: Paced): void {
    const now = performance.now();
    if (this.#running === 0) this.#clock = Math.floor(now);
    this.#running += 1;
    stream.due = now + stream.period;
    this.#place(stream);
    this.#timer ??= setTimeout(this.#tick, 1);
  }

  #place(stream: Paced): void {
    // A slot already passed in this tick would be served only after all the others.
    const slot = Math.max(Math.floor(stream.due), this.#clock + 1);
    this.#slots[slot % slotCount]?.push(stream);
  }

  readonly #tick = (): void => {
    const now = Math.floor(performance.now());
    while (this.#clock < now) {
      this.#clock += 1;
      const index = this.#clock % slotCount;
      const due = this.#slots[index];
      if (due === undefined || due.length === 0) continue;
      this.#slots[index] = [];
      for (const stream of due) {
        if (stream.speak()) {
          stream.due += stream.period;
          this.#place(stream);
        } else {
          this.#running -= 1;
        }
      }
    }
    this.#timer = this.#running > 0 ? setTimeout(this.#tick, 1) : undefined;
  };
}
