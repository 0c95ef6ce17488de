/** Render slots: so many per model over all workers, each held by a lease. */
import type { SlotRecord } from '../../schemas/jobs.ts';
import type { State, StoredRecord } from '../ports/state.ts';

const kind = 'render-slot';
const owner = 'installation';

interface SlotSettings {
  readonly now: () => number;
  /** Milliseconds without a heartbeat after which others take over. */
  readonly leaseMs: number;
}

/** A slot leased by this process. */
export interface Slot {
  readonly id: string;
  readonly claim: string;
  /** False when the lease was lost. */
  renew(): Promise<boolean>;
  /** Others may take it over at once, with its job. */
  release(): Promise<void>;
  free(): Promise<void>;
}

export type Slots = ReturnType<typeof createSlots>;

export const createSlots = (state: State, { now, leaseMs }: SlotSettings) => {
  const lease = (model: string, job: string, claim: string): SlotRecord => ({
    model,
    job,
    claim,
    until: now() + leaseMs,
    released: false,
  });

  const held = (taken: StoredRecord<SlotRecord>): Slot => {
    let record = taken;
    const { id } = record;
    const { claim } = record.value;

    /** An update whose response was lost has happened all the same: another version, but our claim. */
    const wasMine = async (): Promise<boolean> => {
      const found = await state.get<SlotRecord>(kind, id);
      if (found?.value.claim !== claim) return false;
      record = found;
      return true;
    };
    const set = async (change: Partial<SlotRecord>): Promise<boolean> => {
      const value = { ...record.value, ...change };
      if (!(await state.update(kind, id, record.version, indexed(value)))) return wasMine();
      record = { ...record, version: record.version + 1, value };
      return true;
    };

    return {
      id,
      claim,
      renew: () => set({ until: now() + leaseMs }),
      release: async () => void (await set({ until: now(), released: true })),
      free: async () => void (await state.remove(kind, id, record.version)),
    };
  };

  return {
    /** A free slot for this job; undefined when all are taken. Its record names the job before the job is changed, so that a worker's death in between is repaired. */
    async take(model: string, count: number, job: string, claim: string): Promise<Slot | undefined> {
      const everything = { group: model, until: Number.MAX_SAFE_INTEGER, limit: count };
      const taken = new Set((await state.due<SlotRecord>(kind, everything)).map(({ id }) => id));
      for (let number = 0; number < count && taken.size < count; number++) {
        const id = `${model}#${number}`;
        if (taken.has(id)) continue;
        const value = lease(model, job, claim);
        if (await state.create(kind, { id, owner, ...indexed(value) }))
          return held({ id, version: 1, owner, value });
      }
      return undefined;
    },

    /** Slots whose lease has expired. */
    lapsed: (model: string, limit: number): Promise<readonly StoredRecord<SlotRecord>[]> =>
      state.due<SlotRecord>(kind, { group: model, until: now(), limit }),

    /** Undefined when another worker was faster, or its own has renewed it. */
    async takeOver(lapsed: StoredRecord<SlotRecord>, claim: string): Promise<Slot | undefined> {
      const value = lease(lapsed.value.model, lapsed.value.job, claim);
      const taken = await state.update(kind, lapsed.id, lapsed.version, indexed(value));
      return taken ? held({ ...lapsed, version: lapsed.version + 1, value }) : undefined;
    },
  };
};

const indexed = (value: SlotRecord) => ({ value, index: { group: value.model, due: value.until } });
