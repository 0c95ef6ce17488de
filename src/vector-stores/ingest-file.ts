/** A claimed ingestion in; its file's items embedded and stored batch by batch out, and then found all at once. Begun again, it goes on after the last batch. */
import type { Model } from '../../schemas/catalog.ts';
import type { VectorStoreFileRecord, VectorStoreRecord } from '../../schemas/vector-store-records.ts';
import { fail } from '../errors.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Caller } from '../ports/exchange.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import type { Point, Vectors } from '../ports/vectors.ts';
import type { Hold } from './hold.ts';
import { itemId } from './ids.ts';
import { type ItemSource, readItems, UnreadableFile } from './read-items.ts';
import { fileIndex, fileKind, storeIndex, storeKind } from './records.ts';

/** Texts to be embedded on somebody's account; `id` is the same each time the same texts are. */
export interface EmbedBatch {
  readonly id: string;
  readonly caller: Caller;
  readonly model: Model;
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}

export type Embed = (batch: EmbedBatch) => Promise<readonly Float32Array[]>;

export interface Surroundings extends ItemSource {
  readonly state: State;
  readonly vectors: Vectors;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly embed: Embed;
}

/** `gone`: the file or its vector store was deleted meanwhile. */
export type Ingested = 'completed' | 'gone';

export const ingestFile = async (around: Surroundings, hold: Hold): Promise<Ingested> => {
  const { state, vectors } = around;
  const { store: storeId, file: id } = hold.ingestion;
  const [store, file] = await Promise.all([
    state.get<VectorStoreRecord>(storeKind, storeId),
    state.get<VectorStoreFileRecord>(fileKind, id),
  ]);
  if (store === undefined || file === undefined) return 'gone';
  if (file.value.status !== 'in_progress') return 'completed';
  const items = await storeAll(around, hold, store, file.value);
  if ((await state.get(storeKind, storeId)) === undefined) return 'gone';
  await vectors.publish(storeId, id);
  return (await complete(state, file, items)) ? 'completed' : 'gone';
};

/** All items into the store, where nothing is found yet; returns their number. */
const storeAll = async (
  around: Surroundings,
  hold: Hold,
  store: StoredRecord<VectorStoreRecord>,
  file: VectorStoreFileRecord,
): Promise<number> => {
  const { batch: size } = hold.ingestion;
  const model = around.catalog.find(store.value.model);
  if (model === undefined)
    throw fail('unavailable', `The embedding model ${store.value.model} is not served`);
  const batches = new Batches(around, hold, store, file, model);
  let texts: string[] = [];
  let total = 0;
  for await (const text of readItems(around, hold.ingestion, file, model.tokenizer, hold.signal)) {
    texts.push(text);
    total++;
    if (texts.length < size) continue;
    await batches.add(texts);
    texts = [];
  }
  if (texts.length > 0) await batches.add(texts);
  if (total === 0) throw new UnreadableFile('the file holds no text');
  return total;
};

class Batches {
  readonly #around: Surroundings;
  readonly #hold: Hold;
  readonly #store: StoredRecord<VectorStoreRecord>;
  readonly #file: VectorStoreFileRecord;
  readonly #model: Model;
  #number = 0;
  #isOpen = false;

  constructor(
    around: Surroundings,
    hold: Hold,
    store: StoredRecord<VectorStoreRecord>,
    file: VectorStoreFileRecord,
    model: Model,
  ) {
    this.#around = around;
    this.#hold = hold;
    this.#store = store;
    this.#file = file;
    this.#model = model;
  }

  /** Embedded, billed and stored, unless that was done before. */
  async add(texts: readonly string[]): Promise<void> {
    const number = this.#number++;
    const { done, subscription, key, batch, file } = this.#hold.ingestion;
    if (number < done) return;
    const { signal } = this.#hold;
    const vectors = await this.#around.embed({
      id: `${file}_${number}`,
      caller: { subscription, key },
      model: this.#model,
      texts,
      signal,
    });
    if (!this.#isOpen) await this.#open(vectors[0]?.length ?? 0);
    const points = texts.map((text, at) => this.#point(text, number * batch + at, vectors[at]));
    signal.throwIfAborted();
    await this.#around.vectors.upsert(this.#store.id, points);
    await this.#hold.save({ done: number + 1, attempts: 0 });
  }

  #point(text: string, index: number, vector: Float32Array | undefined): Point {
    const { id: file, filename, created } = this.#file;
    if (vector === undefined) throw fail('engine_unreachable', 'The embedding model left an item out');
    return {
      id: itemId(file, index),
      file,
      filename,
      index,
      text,
      description: '',
      createdAt: created,
      updatedAt: created,
      vector,
    };
  }

  async #open(dimensions: number): Promise<void> {
    const { state, vectors } = this.#around;
    const { id } = this.#store;
    const known = await agreeOn(state, id, dimensions);
    if (known !== undefined && known !== dimensions)
      throw fail(
        'unavailable',
        `The embedding model gives vectors of ${dimensions} numbers, the vector store has ${known}`,
      );
    await vectors.create(id, dimensions);
    this.#isOpen = true;
  }
}

/** The length of a vector store's vectors: the first that came, where its record does not say. Undefined when it is gone. */
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

/** False when the file is gone. */
const complete = async (
  state: State,
  { id, version, value }: StoredRecord<VectorStoreFileRecord>,
  items: number,
): Promise<boolean> => {
  const completed: VectorStoreFileRecord = { ...value, status: 'completed', items };
  return state.update(fileKind, id, version, { value: completed, index: fileIndex(completed) });
};
