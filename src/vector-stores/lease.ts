/** The lease of an ingestion: its record, kept up to date, and a signal that aborts when it is lost. */
import type { IngestionRecord } from '../../schemas/vector-stores/records.ts';
import type { State, StoredRecord } from '../ports/state.ts';

export const ingestionKind = 'ingestion';
export const ingestionGroup = 'ingest';

/** Another process has the lease, or nobody: whoever had it stops and changes nothing more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export class IngestionLease {
  readonly #state: State;
  readonly #leaseMs: number;
  readonly #controller = new AbortController();
  #record: StoredRecord<IngestionRecord>;
  #expiry: NodeJS.Timeout;
  /** Changes are serialized: each compares the version that the one before it wrote. */
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

  /** Rejects with `LeaseLost` when the record was changed by somebody else. */
  save(change: Partial<IngestionRecord> = {}, delayMs = this.#leaseMs): Promise<void> {
    return this.#serialize(async () => {
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

  /** Removes the record: nobody claims it again. */
  async finish(): Promise<void> {
    await this.#serialize(() => this.#state.remove(ingestionKind, this.#record.id, this.#record.version));
    this.drop();
  }

  /** Any process may claim it after the delay. */
  async release(change: Partial<IngestionRecord>, delayMs: number): Promise<void> {
    await this.save(change, delayMs);
    this.drop();
  }

  /** Stops the work on it in this process. */
  drop(): LeaseLost {
    clearTimeout(this.#expiry);
    const lost = new LeaseLost(`The lease of the ingestion of ${this.ingestion.file} was lost`);
    this.#controller.abort(lost);
    return lost;
  }

  #serialize<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work);
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** A lease that could not be renewed expires here before others may claim it. */
  #arm(): NodeJS.Timeout {
    return setTimeout(() => this.drop(), this.#leaseMs * 0.8).unref();
  }
}
