/** What happens to jobs, told at once to those in this process who wait for it and to other processes; who hears nothing looks for himself after a while. */
import type { JobRecord } from '../../schemas/jobs.ts';

export type Notice = 'queued' | 'started' | 'ended' | 'samples';
type Ear = (job: string, notice: Notice) => void;

export class Notices {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #ears = new Set<Ear>();
  readonly #outward: (job: JobRecord, notice: Notice) => void;

  /** `outward` carries what happened here to other processes. */
  constructor(outward: (job: JobRecord, notice: Notice) => void = () => undefined) {
    this.#outward = outward;
  }

  /** It happened here. */
  tell(job: JobRecord, notice: Notice): void {
    this.overhear(job.id, notice);
    this.#outward(job, notice);
  }

  /** It happened, here or elsewhere. */
  overhear(job: string, notice: Notice): void {
    for (const hear of this.#ears) hear(job, notice);
    for (const wake of this.#waiting.get(job) ?? []) wake();
  }

  hear(ear: Ear): () => void {
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
