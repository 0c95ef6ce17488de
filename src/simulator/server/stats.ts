/** Counts the calls of an HTTP simulator, for tests that check aborts. */

export interface SimulatorStats {
  /** Calls being answered. */
  readonly running: number;
  readonly finished: number;
  /** Ended by a failure, simulated or not. */
  readonly failed: number;
  /** Left by the client before the end. */
  readonly aborted: number;
  /** Tokens sent, of all calls. */
  readonly tokens: number;
}

export class CallCounter {
  tokens = 0;
  #started = 0;
  readonly #ended = { finished: 0, failed: 0, aborted: 0 };

  start(): void {
    this.#started += 1;
  }

  end(how: 'finished' | 'failed' | 'aborted'): void {
    this.#ended[how] += 1;
  }

  stats(): SimulatorStats {
    const { finished, failed, aborted } = this.#ended;
    return { running: this.#started - finished - failed - aborted, ...this.#ended, tokens: this.tokens };
  }
}
