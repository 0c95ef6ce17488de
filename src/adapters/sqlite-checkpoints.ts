/** Copies what a SQLite file has in its write-ahead log into the file itself, beside the event loop. */
import Database from 'libsql/promise';

/** Milliseconds from a write to the checkpoint that copies it. */
const pause = 1_000;
/**
 * The log is begun anew only when all of it is copied. The first checkpoint waits for the disk, and the others copy what
 * was written meanwhile: with 300 rows every 15 ms, two let the log grow without end, and three kept it below 16 MB.
 */
const passes = 3;

/**
 * SQLite would checkpoint within a commit and wait for the disk twice, which stopped the event loop for 15 to 50 ms. This
 * library runs what has no result on a thread of its own. A passive checkpoint waits for nobody, and nobody for it.
 */
export class Checkpoints {
  readonly #file: string;
  #database: Database | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #written = false;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** There is something new to copy. */
  written(): void {
    this.#written = true;
    if (this.#running || this.#closed) return;
    this.#timer ??= setTimeout(() => void this.#run(), pause).unref();
  }

  /** One that is running ends by itself. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (!this.#running) this.#database?.close();
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#running = true;
    try {
      this.#database ??= new Database(this.#file, {});
      for (let pass = 0; pass < passes; pass++) {
        this.#written = false;
        await this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      }
    } catch {
      // Nothing is lost: the log keeps what was not copied, and the next checkpoint copies it.
      this.#written = true;
    }
    this.#running = false;
    if (this.#closed) this.#database?.close();
    else if (this.#written) this.written();
  }
}
