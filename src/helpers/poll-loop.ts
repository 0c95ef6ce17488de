/** Runs work at intervals and whenever woken, one round at a time. */

export class PollLoop {
  readonly #round: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(intervalMs: number, round: () => Promise<void>, onError: (error: unknown) => void) {
    this.#round = round;
    this.#onError = onError;
    this.#timer = setInterval(() => this.wake(), intervalMs).unref();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Another round, after the one that runs now. */
  wake(): void {
    if (this.#closed) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#again) this.wake(); // woken just as it ended
    });
  }

  /** Resolves when no round runs and none is requested. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** No further round; resolves when the one that runs has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.idle();
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        await this.#round();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
