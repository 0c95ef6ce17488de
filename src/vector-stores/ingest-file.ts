/** Embeds and stores the items of a file in batches, then publishes them; resumes after the last batch. */
import type { Model } from '../../schemas/catalog.ts';
import type { VectorStoreFileRecord, VectorStoreRecord } from '../../schemas/vector-stores/records.ts';
import { fail } from '../errors.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Caller } from '../ports/exchange.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import type { Point, Vectors } from '../ports/vectors.ts';
import type { IngestionLease } from './lease.ts';
import { type ItemSource, readItems, UnreadableFile } from './read-items.ts';
import { fileIndex, fileKind, itemId, storeIndex, storeKind } from './records.ts';
import type { Storage } from './storage.ts';

/** Texts to be embedded on a caller's account; `id` is the same when a batch is repeated. */
export interface EmbedBatch {
  readonly id: string;
  readonly caller: Caller;
  readonly model: Model;
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}

export type Embed = (batch: EmbedBatch) => Promise<readonly Float32Array[]>;

export interface IngestFilePorts extends ItemSource {
  readonly state: State;
  readonly vectors: Vectors;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly embed: Embed;
  readonly storage: Pick<Storage, 'countItems' | 'discount'>;
}

/** `gone`: the file or its vector store was deleted meanwhile. */
export type Ingested = 'completed' | 'gone';

export const ingestFile = async (ports: IngestFilePorts, lease: IngestionLease): Promise<Ingested> => {
  const { state, vectors } = ports;
  const { store: storeId, file: id } = lease.ingestion;
  const [store, file] = await Promise.all([
    state.get<VectorStoreRecord>(storeKind, storeId),
    state.get<VectorStoreFileRecord>(fileKind, id),
  ]);
  if (store === undefined || file === undefined) return 'gone';
  if (file.value.status !== 'in_progress') return 'completed';
  const items = await storeAll(ports, lease, store.value, file.value);
  if ((await state.get(storeKind, storeId)) === undefined) return 'gone';
  await vectors.publish(storeId, id);
  if (!(await complete(state, file, items))) return 'gone';
  await ports.storage.countItems(lease.ingestion.subscription, items);
  return 'completed';
};

/** Stores all items, not yet visible to search; returns their number. */
const storeAll = async (
  ports: IngestFilePorts,
  lease: IngestionLease,
  store: VectorStoreRecord,
  file: VectorStoreFileRecord,
): Promise<number> => {
  const model = ports.catalog.find(store.model);
  if (model === undefined) throw fail('unavailable', `The embedding model ${store.model} is not served`);
  const { signal } = lease;
  const { batch: size, subscription, key, tags } = lease.ingestion;
  let batches = 0;
  let total = 0;
  let isOpen = false;

  /** Embeds, bills and stores a batch, unless that was done before. */
  const storeBatch = async (texts: readonly string[]): Promise<void> => {
    const number = batches++;
    total += texts.length;
    if (number < lease.ingestion.done) return;
    const id = `${file.id}_${number}`;
    const vectors = await ports.embed({ id, caller: { subscription, key, tags }, model, texts, signal });
    if (!isOpen) await openStore(ports, store.id, vectors[0]?.length ?? 0);
    isOpen = true;
    const points = texts.map((text, at) => pointOf(file, text, number * size + at, vectors[at]));
    signal.throwIfAborted();
    await ports.vectors.upsert(store.id, points);
    await lease.save({ done: number + 1, attempts: 0 });
  };

  let texts: string[] = [];
  for await (const text of readItems(ports, lease.ingestion, file, model.tokenizer, signal)) {
    texts.push(text);
    if (texts.length < size) continue;
    await storeBatch(texts);
    texts = [];
  }
  if (texts.length > 0) await storeBatch(texts);
  if (total === 0) throw new UnreadableFile('the file holds no text');
  return total;
};

const pointOf = (
  { id: file, filename, created }: VectorStoreFileRecord,
  text: string,
  index: number,
  vector: Float32Array | undefined,
): Point => {
  if (vector === undefined) throw fail('engine_unreachable', 'The embedding model left an item out');
  const times = { createdAt: created, updatedAt: created };
  return { id: itemId(file, index), file, filename, index, text, description: '', ...times, vector };
};

const openStore = async (
  { state, vectors }: IngestFilePorts,
  id: string,
  dimensions: number,
): Promise<void> => {
  const known = await agreeOn(state, id, dimensions);
  if (known !== undefined && known !== dimensions)
    throw fail(
      'unavailable',
      `The embedding model gives vectors of ${dimensions} numbers, the vector store has ${known}`,
    );
  await vectors.create(id, dimensions);
};

/** The dimensions of a vector store: those of its first vector, where its record has none. Undefined when it was deleted. */
const agreeOn = async (state: State, id: string, dimensions: number): Promise<number | undefined> => {
  for (;;) {
    const record = await state.get<VectorStoreRecord>(storeKind, id);
    if (record === undefined || record.value.dimensions !== null)
      return record?.value.dimensions ?? undefined;
    const value = { ...record.value, dimensions };
    const index = storeIndex(record.owner, value);
    if (await state.update(storeKind, id, record.version, { value, index })) return dimensions;
  }
};

/** False when the file was deleted. */
const complete = async (
  state: State,
  { id, version, value }: StoredRecord<VectorStoreFileRecord>,
  items: number,
): Promise<boolean> => {
  const completed: VectorStoreFileRecord = { ...value, status: 'completed', items };
  return state.update(fileKind, id, version, { value: completed, index: fileIndex(completed) });
};
