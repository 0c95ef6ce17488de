/** Checkpoints a SQLite file off the event loop: copies its write-ahead log (WAL) into the file itself. */
import Database from 'libsql/promise';

/** Milliseconds from a write to the checkpoint that copies it. */
const pause = 1_000;
/**
 * The WAL restarts from its beginning only when all of it is copied. The first checkpoint waits for the disk, and the
 * others copy what was written meanwhile: with 300 rows every 15 ms, two let the WAL grow to the 64 MB at which a commit
 * checkpoints, and three kept it at 16 MB.
 */
const passes = 3;

/**
 * SQLite would checkpoint within a commit and wait for the disk twice, which blocked the event loop for 15 to 50 ms. The
 * library runs `exec` of its promise API on a thread of its own. Neither readers nor writers wait for a passive checkpoint.
 */
export class Checkpoints {
  readonly #file: string;
  #database: Database | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #written = false;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** There is something new to copy. */
  written(): void {
    this.#written = true;
    if (this.#running !== undefined || this.#closed) return;
    this.#timer ??= setTimeout(() => this.#start(), pause).unref();
  }

  /** Waits for one that is running: it may still write to the file. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
    this.#database?.close();
  }

  #start(): void {
    this.#timer = undefined;
    this.#running = this.#copy().finally(() => {
      this.#running = undefined;
      if (this.#written) this.written();
    });
  }

  async #copy(): Promise<void> {
    try {
      this.#database ??= new Database(this.#file, {});
      for (let pass = 0; pass < passes; pass++) {
        this.#written = false;
        await this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      }
    } catch {
      // Nothing is lost: the WAL keeps what was not copied, and the next checkpoint copies it.
      this.#written = true;
    }
  }
}
