/** An ingestion that this process has claimed: what is known of it, kept up to date in the State port while it is ours, and a signal for when it is not. */
import type { IngestionRecord } from '../../schemas/vector-store-records.ts';
import type { State, StoredRecord } from '../ports/state.ts';

export const ingestionKind = 'ingestion';
export const ingestionGroup = 'ingest';

/** Another process has it, or nobody has: whoever held it stops and leaves everything as it is. */
export class LostHold extends Error {
  override readonly name = 'LostHold';
}

export class Hold {
  readonly #state: State;
  readonly #leaseMs: number;
  readonly #controller = new AbortController();
  #record: StoredRecord<IngestionRecord>;
  #expiry: NodeJS.Timeout;
  /** Changes wait for each other: each compares the version that the one before it left. */
  #last: Promise<unknown> = Promise.resolve();

  /** The record as it is stored, already due no sooner than a lease from now. */
  constructor(state: State, record: StoredRecord<IngestionRecord>, leaseMs: number) {
    this.#state = state;
    this.#record = record;
    this.#leaseMs = leaseMs;
    this.#expiry = this.#arm();
  }

  get ingestion(): IngestionRecord {
    return this.#record.value;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects with `LostHold` when it is not ours any more. */
  save(change: Partial<IngestionRecord> = {}, delayMs = this.#leaseMs): Promise<void> {
    return this.#inTurn(async () => {
      this.signal.throwIfAborted();
      const value = { ...this.ingestion, ...change };
      const index = { group: ingestionGroup, due: Date.now() + delayMs };
      const { id, version } = this.#record;
      if (!(await this.#state.update(ingestionKind, id, version, { value, index }))) throw this.drop();
      this.#record = { ...this.#record, version: version + 1, value };
      clearTimeout(this.#expiry);
      this.#expiry = this.#arm();
    });
  }

  /** It is done with: nobody takes it up again. */
  async finish(): Promise<void> {
    await this.#inTurn(() => this.#state.remove(ingestionKind, this.#record.id, this.#record.version));
    this.drop();
  }

  /** Somebody may take it up after the delay. */
  async release(change: Partial<IngestionRecord>, delayMs: number): Promise<void> {
    await this.save(change, delayMs);
    this.drop();
  }

  /** Stops what works on it, in this process. */
  drop(): LostHold {
    clearTimeout(this.#expiry);
    const lost = new LostHold(`The ingestion of ${this.ingestion.file} is not ours any more`);
    this.#controller.abort(lost);
    return lost;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work);
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** A lease that could not be renewed ends here before it ends for others. */
  #arm(): NodeJS.Timeout {
    return setTimeout(() => this.drop(), this.#leaseMs * 0.8).unref();
  }
}
