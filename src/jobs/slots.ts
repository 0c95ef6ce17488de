/** Render slots: so many per model over all workers, each held by a lease. */
import type { SlotRecord } from '../../schemas/jobs.ts';
import type { State, StoredRecord } from '../ports/state.ts';

const kind = 'render-slot';

export interface SlotSettings {
  readonly now: () => number;
  /** Milliseconds without a heartbeat after which others take over. */
  readonly leaseMs: number;
}

export class Slots {
  readonly #state: State;
  readonly #settings: SlotSettings;

  constructor(state: State, settings: SlotSettings) {
    this.#state = state;
    this.#settings = settings;
  }

  /** A free slot for this job; undefined when all are taken. Its record names the job before the job is changed, so that a worker's death in between is repaired. */
  async take(model: string, count: number, job: string, claim: string): Promise<Slot | undefined> {
    const everything = { group: model, until: Number.MAX_SAFE_INTEGER, limit: count };
    const taken = new Set((await this.#state.due<SlotRecord>(kind, everything)).map(({ id }) => id));
    for (let number = 0; number < count && taken.size < count; number++) {
      const id = `${model}#${number}`;
      if (taken.has(id)) continue;
      const value = this.#lease(model, job, claim);
      const index = { group: model, due: value.until };
      if (await this.#state.create(kind, { id, owner: 'installation', value, index }))
        return new Slot(this.#state, this.#settings, { id, version: 1, owner: 'installation', value });
    }
    return undefined;
  }

  /** Slots whose lease has expired. */
  lapsed(model: string, limit: number): Promise<readonly StoredRecord<SlotRecord>[]> {
    return this.#state.due<SlotRecord>(kind, { group: model, until: this.#settings.now(), limit });
  }

  /** Undefined when another worker was faster, or its own has renewed it. */
  async takeOver(lapsed: StoredRecord<SlotRecord>, claim: string): Promise<Slot | undefined> {
    const value = this.#lease(lapsed.value.model, lapsed.value.job, claim);
    const index = { group: value.model, due: value.until };
    const taken = await this.#state.update(kind, lapsed.id, lapsed.version, { value, index });
    return taken
      ? new Slot(this.#state, this.#settings, { ...lapsed, version: lapsed.version + 1, value })
      : undefined;
  }

  #lease(model: string, job: string, claim: string): SlotRecord {
    return { model, job, claim, until: this.#settings.now() + this.#settings.leaseMs, released: false };
  }
}

/** A slot leased by this process. */
export class Slot {
  readonly #state: State;
  readonly #settings: SlotSettings;
  #record: StoredRecord<SlotRecord>;

  constructor(state: State, settings: SlotSettings, record: StoredRecord<SlotRecord>) {
    this.#state = state;
    this.#settings = settings;
    this.#record = record;
  }

  get id(): string {
    return this.#record.id;
  }

  get claim(): string {
    return this.#record.value.claim;
  }

  /** False when the lease was lost. */
  renew(): Promise<boolean> {
    return this.#set({ until: this.#settings.now() + this.#settings.leaseMs });
  }

  /** Others may take it over at once, with its job. */
  async release(): Promise<void> {
    await this.#set({ until: this.#settings.now(), released: true });
  }

  async free(): Promise<void> {
    await this.#state.remove(kind, this.#record.id, this.#record.version);
  }

  async #set(change: Partial<SlotRecord>): Promise<boolean> {
    const value = { ...this.#record.value, ...change };
    const index = { group: value.model, due: value.until };
    if (!(await this.#state.update(kind, this.#record.id, this.#record.version, { value, index })))
      return this.#wasMine(value);
    this.#record = { ...this.#record, version: this.#record.version + 1, value };
    return true;
  }

  /** An update whose response was lost has happened all the same: another version, but our claim. */
  async #wasMine({ claim }: SlotRecord): Promise<boolean> {
    const found = await this.#state.get<SlotRecord>(kind, this.#record.id);
    if (found?.value.claim !== claim) return false;
    this.#record = found;
    return true;
  }
}
