/** A claimed ingestion in; its file's passages embedded and stored batch by batch out, and then found all at once. Begun again, it goes on after the last batch. */
import type { Model } from '../../schemas/catalog.ts';
import type { CollectionFileRecord, CollectionRecord } from '../../schemas/vector-store-records.ts';
import { fail } from '../errors.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Caller } from '../ports/exchange.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import type { Point, Vectors } from '../ports/vectors.ts';
import type { Hold } from './hold.ts';
import { passageId } from './ids.ts';
import { type PassageSource, readPassages, UnreadableFile } from './read-items.ts';
import { collectionIndex, collectionKind, fileIndex, fileKind } from './records.ts';

/** Texts to be embedded on somebody's account; `id` is the same each time the same texts are. */
export interface EmbedBatch {
  readonly id: string;
  readonly caller: Caller;
  readonly model: Model;
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}

export type Embed = (batch: EmbedBatch) => Promise<readonly Float32Array[]>;

export interface Surroundings extends PassageSource {
  readonly state: State;
  readonly vectors: Vectors;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly embed: Embed;
}

/** `gone`: the file or its collection was deleted meanwhile. */
export type Ingested = 'completed' | 'gone';

export const ingestFile = async (around: Surroundings, hold: Hold): Promise<Ingested> => {
  const { state, vectors } = around;
  const { collection: store, file: id } = hold.ingestion;
  const [collection, file] = await Promise.all([
    state.get<CollectionRecord>(collectionKind, store),
    state.get<CollectionFileRecord>(fileKind, id),
  ]);
  if (collection === undefined || file === undefined) return 'gone';
  if (file.value.status !== 'in_progress') return 'completed';
  const items = await storeAll(around, hold, collection, file.value);
  if ((await state.get(collectionKind, store)) === undefined) return 'gone';
  await vectors.publish(store, id);
  return (await complete(state, file, items)) ? 'completed' : 'gone';
};

/** All passages into the store, where nothing is found yet; returns their number. */
const storeAll = async (
  around: Surroundings,
  hold: Hold,
  collection: StoredRecord<CollectionRecord>,
  file: CollectionFileRecord,
): Promise<number> => {
  const { batch: size } = hold.ingestion;
  const model = around.catalog.find(collection.value.model);
  if (model === undefined)
    throw fail('unavailable', `The embedding model ${collection.value.model} is not served`);
  const batches = new Batches(around, hold, collection, file, model);
  let texts: string[] = [];
  let total = 0;
  for await (const text of readPassages(around, hold.ingestion, file, model.tokenizer, hold.signal)) {
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
  readonly #collection: StoredRecord<CollectionRecord>;
  readonly #file: CollectionFileRecord;
  readonly #model: Model;
  #number = 0;
  #isOpen = false;

  constructor(
    around: Surroundings,
    hold: Hold,
    collection: StoredRecord<CollectionRecord>,
    file: CollectionFileRecord,
    model: Model,
  ) {
    this.#around = around;
    this.#hold = hold;
    this.#collection = collection;
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
    await this.#around.vectors.upsert(this.#collection.id, points);
    await this.#hold.save({ done: number + 1, attempts: 0 });
  }

  #point(text: string, index: number, vector: Float32Array | undefined): Point {
    const { id: file, filename, created } = this.#file;
    if (vector === undefined) throw fail('engine_unreachable', 'The embedding model left a passage out');
    return {
      id: passageId(file, index),
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
    const { id } = this.#collection;
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

/** The length of a collection's vectors: the first that came, where its record does not say. Undefined when it is gone. */
const agreeOn = async (state: State, id: string, dimensions: number): Promise<number | undefined> => {
  for (;;) {
    const record = await state.get<CollectionRecord>(collectionKind, id);
    if (record === undefined || record.value.dimensions !== null)
      return record?.value.dimensions ?? undefined;
    const value = { ...record.value, dimensions };
    const index = collectionIndex(record.owner, value);
    if (await state.update(collectionKind, id, record.version, { value, index })) return dimensions;
  }
};

/** False when the file is gone. */
const complete = async (
  state: State,
  { id, version, value }: StoredRecord<CollectionFileRecord>,
  items: number,
): Promise<boolean> => {
  const completed: CollectionFileRecord = { ...value, status: 'completed', items };
  return state.update(fileKind, id, version, { value: completed, index: fileIndex(completed) });
};
