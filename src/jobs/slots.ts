/** The State port in; the places that renders take out: so many per model over all workers, each held by a lease that outlives nobody for long. */
import type { SlotRecord } from '../../schemas/jobs.ts';
import type { State, StoredRecord } from '../ports/state.ts';

const kind = 'render-slot';

export interface SlotSettings {
  readonly now: () => number;
  /** Milliseconds without a sign of life after which others take over. */
  readonly leaseMs: number;
}

export class Slots {
  readonly #state: State;
  readonly #settings: SlotSettings;

  constructor(state: State, settings: SlotSettings) {
    this.#state = state;
    this.#settings = settings;
  }

  /** A free one for this job; undefined when all are taken. Its record says which job is meant before the job is touched, so a worker that dies in between is followed up. */
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

  /** Those whose worker has not been heard of. */
  lapsed(model: string, limit: number): Promise<readonly StoredRecord<SlotRecord>[]> {
    return this.#state.due<SlotRecord>(kind, { group: model, until: this.#settings.now(), limit });
  }

  /** Undefined when another worker was quicker, or its own came back to life. */
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

/** One that this process holds. */
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

  /** False when it is not ours any more. */
  renew(): Promise<boolean> {
    return this.#set({ until: this.#settings.now() + this.#settings.leaseMs });
  }

  /** For others to take over at once, job and all. */
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

  /** A change whose answer was lost has happened all the same: the version moved on, but the claim is still ours. */
  async #wasMine({ claim }: SlotRecord): Promise<boolean> {
    const found = await this.#state.get<SlotRecord>(kind, this.#record.id);
    if (found?.value.claim !== claim) return false;
    this.#record = found;
    return true;
  }
}
