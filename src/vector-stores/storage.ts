/** Counts what each subscription stores in its vector stores, and refuses uploads past its quota. */
import { randomUUID } from 'node:crypto';
import type {
  StorageRecord,
  StorageUsed,
  VectorStoreFileRecord,
  VectorStoreRecord,
} from '../../schemas/vector-stores/records.ts';
import { type ApiError, fail } from '../errors.ts';
import type { State } from '../ports/state.ts';
import type { Reservation, StorageLimits } from '../ports/vector-stores.ts';
import { fileKind, storeKind } from './records.ts';

const storageKind = 'storage';
const nothing: StorageUsed = { bytes: 0, files: 0, items: 0 };
const empty: StorageRecord = { used: nothing, uploads: [] };
/** An upload that was begun so long ago is that of a process that died: a body does not take as long. */
const staleMs = 3_600_000;
/** Files are counted again at a refusal, but not more often than this. */
const recountMs = 60_000;
const maxRecounted = 10_000;
const page = 100;

export class Storage {
  readonly #state: State;
  readonly #limits: StorageLimits;
  /** When each subscription was last counted again. */
  readonly #recounted = new Map<string, number>();
  #refused = 0;

  constructor(state: State, limits: StorageLimits) {
    this.#state = state;
    this.#limits = limits;
  }

  get refused(): number {
    return this.#refused;
  }

  async used(subscription: string): Promise<StorageUsed> {
    const record = await this.#state.get<StorageRecord>(storageKind, subscription);
    return total(record?.value ?? empty);
  }

  /** Keeps room for one file of so many bytes; rejects with `payload_too_large` when it does not fit. */
  async reserve(subscription: string, bytes: number): Promise<Reservation> {
    const id = randomUUID();
    const begin = (record: StorageRecord): StorageRecord => {
      const uploads = record.uploads.filter(({ since }) => since > Date.now() - staleMs);
      return { ...record, uploads: [...uploads, { id, bytes, since: Date.now() }] };
    };
    const end = (record: StorageRecord): StorageRecord => ({
      ...record,
      uploads: record.uploads.filter((upload) => upload.id !== id),
    });
    let excess = await this.#change(subscription, begin, true);
    // A process that died between a record and its count left the count wrong: the records decide.
    if (excess !== undefined && (await this.#recount(subscription)))
      excess = await this.#change(subscription, begin, true);
    if (excess !== undefined) {
      this.#refused++;
      throw excess;
    }
    return {
      kept: async (size) => {
        await this.#change(subscription, (record) =>
          counted(end(record), { bytes: size, files: 1, items: 0 }),
        );
      },
      release: async () => {
        await this.#change(subscription, end);
      },
    };
  }

  /** Items that were added, or with a negative number removed. */
  async countItems(subscription: string, items: number): Promise<void> {
    await this.#change(subscription, (record) => counted(record, { ...nothing, items }));
  }

  /** A file that was removed, of a store that may be gone as well: then whoever removed that knows its owner. */
  async discount(store: string, { bytes, items }: VectorStoreFileRecord, owner?: string): Promise<void> {
    const subscription = owner ?? (await this.#state.get(storeKind, store))?.owner;
    if (subscription === undefined) return;
    const less = { bytes: -bytes, files: -1, items: -items };
    await this.#change(subscription, (record) => counted(record, less));
  }

  /** Tried again when another change was faster. With `bounded`, the reason why it is not made. */
  async #change(
    subscription: string,
    change: (record: StorageRecord) => StorageRecord,
    bounded = false,
  ): Promise<ApiError | undefined> {
    for (;;) {
      const record = await this.#state.get<StorageRecord>(storageKind, subscription);
      const value = change(record?.value ?? empty);
      const excess = bounded ? this.#excess(total(value)) : undefined;
      if (excess !== undefined) return excess;
      if (await this.#store(subscription, record?.version, value)) return undefined;
    }
  }

  #store(subscription: string, version: number | undefined, value: StorageRecord): Promise<boolean> {
    return version === undefined
      ? this.#state.create(storageKind, { id: subscription, owner: subscription, value })
      : this.#state.update(storageKind, subscription, version, { value });
  }

  #excess(used: StorageUsed): ApiError | undefined {
    const unit = (['bytes', 'files', 'items'] as const).find((each) => used[each] > this.#limits[each]);
    if (unit === undefined) return undefined;
    const what = `The vector stores of the subscription may hold ${this.#limits[unit]} ${unit}`;
    return fail(
      'payload_too_large',
      `${what}; with this file they would hold ${used[unit]}: delete some first`,
    );
  }

  /** Sets the count to what the records of files say; false when that was done a moment ago. */
  async #recount(subscription: string): Promise<boolean> {
    const now = Date.now();
    if (now - (this.#recounted.get(subscription) ?? 0) < recountMs) return false;
    this.#recounted.delete(subscription);
    this.#recounted.set(subscription, now);
    const [oldest] = this.#recounted.keys();
    if (this.#recounted.size > maxRecounted && oldest !== undefined) this.#recounted.delete(oldest);
    const before = await this.#state.get<StorageRecord>(storageKind, subscription);
    let record: StorageRecord = { ...(before?.value ?? empty), used: nothing };
    for await (const store of this.#owned<VectorStoreRecord>(storeKind, subscription))
      for await (const { bytes, items } of this.#owned<VectorStoreFileRecord>(fileKind, store.id))
        record = counted(record, { bytes, files: 1, items });
    // Where it changed meanwhile, it stays as it is until the next refusal.
    return this.#store(subscription, before?.version, record);
  }

  async *#owned<T>(kind: string, owner: string): AsyncGenerator<T> {
    let after: string | undefined;
    for (;;) {
      const query = { owner, limit: page, order: 'asc', ...(after !== undefined && { after }) } as const;
      const records = await this.#state.list<T>(kind, query);
      for (const { value } of records) yield value;
      after = records.at(-1)?.id;
      if (records.length < page) return;
    }
  }
}

/** Uploads that are being received count as files. */
const total = ({ used, uploads }: StorageRecord): StorageUsed => ({
  bytes: uploads.reduce((sum, { bytes }) => sum + bytes, used.bytes),
  files: used.files + uploads.length,
  items: used.items,
});

const counted = ({ used, uploads }: StorageRecord, more: StorageUsed): StorageRecord => ({
  used: {
    bytes: Math.max(0, used.bytes + more.bytes),
    files: Math.max(0, used.files + more.files),
    items: Math.max(0, used.items + more.items),
  },
  uploads,
});
