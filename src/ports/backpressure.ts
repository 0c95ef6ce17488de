/** Backpressure flows up beside the data: the reader's end calls pause and resume, the source's end obeys. */

export interface Pausable {
  pause(): void;
  resume(): void;
}

/** One per request. The reader may pause before a source is attached: the source then starts paused. */
export class Backpressure implements Pausable {
  #paused = false;
  #source: Pausable | undefined;

  get paused(): boolean {
    return this.#paused;
  }

  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#source?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#source?.resume();
  }

  /** The source that obeys from now on; a later one takes over (a retry on another replica, say). */
  attach(source: Pausable): void {
    this.#source = source;
    if (this.#paused) source.pause();
  }

  detach(source: Pausable): void {
    if (this.#source === source) this.#source = undefined;
  }
}
