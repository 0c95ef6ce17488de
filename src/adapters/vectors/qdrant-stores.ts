/** The registry of stores in Qdrant, and the collection that holds the points of each. */
import { fail } from '../../errors.ts';
import { ensureSize } from './direction.ts';
import { type QdrantConnection, statusOf } from './qdrant-connection.ts';
import { pointId } from './qdrant-points.ts';
import type { QdrantCluster } from './qdrant-settings.ts';

/** Every write: applied when the call ends, and in one order on all replicas of the server. */
export const applied = { wait: true, ordering: 'strong' } as const;

/** Stores whose collection is cached. */
const mostKnown = 10_000;

export class QdrantStores {
  readonly #qdrant: QdrantConnection;
  readonly #prefix: string;
  readonly #cluster: Partial<CollectionSettings>;
  readonly #known = new Map<string, number>();
  /** Collections that are there with their indexes, or about to be. */
  readonly #ready = new Map<string, Promise<void>>();

  constructor(
    qdrant: QdrantConnection,
    prefix: string,
    { shards, replicas, writeConsistency }: QdrantCluster = {},
  ) {
    this.#qdrant = qdrant;
    this.#prefix = prefix;
    this.#cluster = {
      ...(shards !== undefined && { shard_number: shards }),
      ...(replicas !== undefined && { replication_factor: replicas }),
      ...(writeConsistency !== undefined && { write_consistency_factor: writeConsistency }),
    };
  }

  /** The collection of a store; undefined when there is no such store. It never changes while the store exists. */
  async find(store: string): Promise<string | undefined> {
    const dimensions = this.#known.get(store) ?? (await this.#dimensionsOf(store));
    return dimensions === undefined ? undefined : this.#collection(dimensions);
  }

  /** The same, not from memory; rejects when there is no such store. */
  async require(store: string): Promise<string> {
    const dimensions = await this.#dimensionsOf(store);
    if (dimensions === undefined) throw fail('not_found', 'The vector store does not exist');
    return this.#collection(dimensions);
  }

  async add(store: string, dimensions: number): Promise<void> {
    await this.#prepare();
    const known = await this.#dimensionsOf(store);
    if (known !== undefined) ensureSize(known, dimensions);
    await this.#once(this.#collection(dimensions), () => this.#createVectors(dimensions));
    const point = { id: pointId(store, ''), vector: {}, payload: { store, dimensions } };
    await this.#qdrant.call((client) => client.upsert(this.#registry, { ...applied, points: [point] }));
  }

  async remove(store: string): Promise<void> {
    this.#known.delete(store);
    await this.#qdrant.call((client) =>
      client.delete(this.#registry, { ...applied, points: [pointId(store, '')] }),
    );
  }

  /** Asks the server, each time. */
  async check(): Promise<void> {
    await this.#prepare();
    await this.#qdrant.call((client) => client.count(this.#registry, { exact: false }));
  }

  /** The list of stores is a collection without vectors. */
  #prepare(): Promise<void> {
    return this.#once(this.#registry, () => this.#create(this.#registry, { vectors: {} }));
  }

  get #registry(): string {
    return `${this.#prefix}stores`;
  }

  #collection(dimensions: number): string {
    return `${this.#prefix}items_${dimensions}`;
  }

  async #dimensionsOf(store: string): Promise<number | undefined> {
    await this.#prepare();
    const [point] = await this.#qdrant.call((client) =>
      client.retrieve(this.#registry, {
        ids: [pointId(store, '')],
        with_payload: true,
        ...this.#qdrant.reading,
      }),
    );
    const dimensions = point?.payload?.dimensions;
    this.#known.delete(store);
    if (typeof dimensions !== 'number') return undefined;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= mostKnown) this.#known.delete(oldest);
    this.#known.set(store, dimensions);
    return dimensions;
  }

  /** Every search is of one store: an index of vectors for each of them, none over all. */
  async #createVectors(size: number): Promise<void> {
    const name = this.#collection(size);
    await this.#create(name, {
      vectors: { size, distance: 'Cosine' },
      hnsw_config: { m: 0, payload_m: 16 },
    });
    const index = (field_name: string, field_schema: IndexSchema) =>
      this.#qdrant.call((client) =>
        client.createPayloadIndex(name, { ...applied, field_name, field_schema }),
      );
    await index('store', { type: 'keyword', is_tenant: true });
    await index('file', 'keyword');
    await index('published', 'bool');
    await index('createdAt', 'integer');
    await index('index', 'integer');
  }

  async #create(name: string, settings: CollectionSettings): Promise<void> {
    const { exists } = await this.#qdrant.call((client) => client.collectionExists(name));
    if (exists) return;
    await this.#qdrant.call(async (client) => {
      try {
        await client.createCollection(name, { ...settings, ...this.#cluster });
      } catch (error) {
        // Another replica was quicker.
        if (statusOf(error) !== 409) throw error;
      }
    });
  }

  /** Tried again by the next caller when it fails. */
  #once(name: string, work: () => Promise<void>): Promise<void> {
    const running = this.#ready.get(name) ?? work();
    this.#ready.set(name, running);
    running.catch(() => this.#ready.delete(name));
    return running;
  }
}

type Client = Parameters<Parameters<QdrantConnection['call']>[0]>[0];
type IndexSchema = NonNullable<Parameters<Client['createPayloadIndex']>[1]['field_schema']>;
type CollectionSettings = NonNullable<Parameters<Client['createCollection']>[1]>;
