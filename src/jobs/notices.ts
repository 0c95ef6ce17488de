/** What happens to jobs in this process, told at once to those who wait for it; who hears nothing looks for himself after a while. */

export type Notice = 'queued' | 'started' | 'ended' | 'samples';

export class Notices {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #ears = new Set<(job: string, notice: Notice) => void>();

  tell(job: string, notice: Notice): void {
    for (const hear of this.#ears) hear(job, notice);
    for (const wake of this.#waiting.get(job) ?? []) wake();
  }

  hear(ear: (job: string, notice: Notice) => void): () => void {
    this.#ears.add(ear);
    return () => this.#ears.delete(ear);
  }

  /** Resolves with the next notice of the job, or after so long. */
  wait(job: string, milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(job) ?? new Set();
      this.#waiting.set(job, waiting);
      const wake = (): void => {
        clearTimeout(timer);
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(job);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      waiting.add(wake);
    });
  }
}
