/** Vectors of items with their payload, found by similarity. */

export interface Item {
  /** `item_…`. */
  readonly id: string;
  readonly file: string;
  readonly filename: string;
  /** Its place in the file, from 0. */
  readonly index: number;
  readonly text: string;
  readonly description: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Point extends Item {
  /** A direction: its length does not count. */
  readonly vector: Float32Array;
}

export interface Hit extends Item {
  /** Cosine of the angle to the query, from -1 to 1. */
  readonly similarity: number;
}

export interface ItemPage {
  /** The id of the item before the page, in order of `createdAt`, `index` and id. One that is not there: no page. */
  readonly after?: string;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly file?: string;
}

/**
 * `store` is the id of a vector store. What one call has resolved for, every later call sees, on every replica.
 * Calls reject with `unavailable` (503) when the service cannot answer now. In a store that is not there nothing is
 * found; `upsert` and `publish` reject with `not_found`, so that a file of a store that was dropped is not read on.
 */
export interface Vectors {
  /** Before the first point; the same again is fine. */
  create(store: string, dimensions: number): Promise<void>;
  /** With all its points; nothing there is fine. */
  drop(store: string): Promise<void>;
  /**
   * By id; one that is there is replaced. What was upserted is nowhere (`search`, `get`, `list`, `count`, `describe`,
   * `remove`) before the next `publish` of its file; `removeFile` and `drop` take it away all the same.
   */
  upsert(store: string, points: readonly Point[]): Promise<void>;
  /** All points of the file are found from now on, at once. */
  publish(store: string, file: string): Promise<void>;
  get(store: string, id: string): Promise<Item | undefined>;
  list(store: string, page: ItemPage): Promise<readonly Item[]>;
  count(store: string): Promise<number>;
  /** New text about a point, and the vector that goes with it. False when it is not there. */
  describe(
    store: string,
    id: string,
    change: { readonly description: string; readonly vector: Float32Array; readonly updatedAt: number },
  ): Promise<boolean>;
  /** False when it was not there. */
  remove(store: string, id: string): Promise<boolean>;
  /** Published or not. */
  removeFile(store: string, file: string): Promise<void>;
  /** Best first; ties by id. */
  search(
    store: string,
    query: Float32Array,
    options: { readonly limit: number; readonly minimum?: number; readonly file?: string },
  ): Promise<readonly Hit[]>;
  check(): Promise<void>;
  close(): Promise<void>;
}
