/** Bytes as they come in; a file under its name out, the source held back while the disk is behind. */
import type { Observer } from 'rxjs';
import type { Demand } from '../../ports/demand.ts';
import type { PendingFile } from './pending-file.ts';

/** Bytes that may wait for the disk before the source is asked to pause. */
const mostWaiting = 512 * 1024;

export class FileWriter implements Observer<Uint8Array> {
  readonly #file: PendingFile;
  readonly #demand: Demand;
  readonly #done: Observer<number>;
  #waiting: Uint8Array[] = [];
  /** Bytes waiting and being written. */
  #held = 0;
  #size = 0;
  #phase: 'open' | 'complete' | 'over' = 'open';
  #working = false;

  /** `done` is told the size of the file, or why there is none. */
  constructor(file: PendingFile, demand: Demand, done: Observer<number>) {
    this.#file = file;
    this.#demand = demand;
    this.#done = done;
  }

  next(piece: Uint8Array): void {
    if (this.#phase !== 'open' || piece.length === 0) return;
    this.#waiting.push(piece);
    this.#held += piece.length;
    this.#size += piece.length;
    if (this.#held >= mostWaiting) this.#demand.pause();
    this.#start();
  }

  complete(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'complete';
    this.#start();
  }

  error(thrown: unknown): void {
    this.#end();
    this.#done.error(thrown);
  }

  /** Nobody waits for the file any more. */
  abandon(): void {
    if (this.#phase !== 'over') this.#end();
  }

  #end(): void {
    this.#phase = 'over';
    this.#waiting = [];
    this.#start();
  }

  #start(): void {
    if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (this.#waiting.length > 0) await this.#writeWaiting();
      if (this.#phase === 'complete') await this.#file.publish();
    } catch (thrown) {
      this.#phase = 'over';
      this.#done.error(thrown);
    }
    if (this.#phase === 'over') await this.#discard();
    this.#working = false;
    if (this.#phase !== 'complete') return;
    this.#phase = 'over';
    this.#done.next(this.#size);
    this.#done.complete();
  }

  async #writeWaiting(): Promise<void> {
    const pieces = this.#waiting;
    this.#waiting = [];
    await this.#file.append(pieces);
    for (const piece of pieces) this.#held -= piece.length;
    if (this.#phase !== 'over') this.#demand.resume();
  }

  async #discard(): Promise<void> {
    try {
      await this.#file.discard();
    } catch {
      // The sweep finds what could not be removed now.
    }
  }
}
