/** Small records that survive restarts and are shared by all replicas: keys, jobs, secrets, deliveries. */

export interface StoredRecord<T> {
  readonly id: string;
  /** Grows by one with each change; `update` and `remove` compare it. */
  readonly version: number;
  /** The subscription it belongs to. */
  readonly owner: string;
  readonly value: T;
}

export interface NewRecord<T> {
  readonly id: string;
  readonly owner: string;
  readonly value: T;
  readonly index?: RecordIndex;
}

/** What `due` finds records by: a label, and a time in Unix milliseconds. Absent: the record is not in any queue. */
export interface RecordIndex {
  readonly group: string;
  readonly due: number;
}

export interface ListQuery {
  readonly owner?: string;
  /**
   * Exclusive cursors in the order asked for: ids of records of the same listing. An unknown cursor yields an empty
   * page. `before` alone gives the page that ends there, the last records in front of it.
   */
  readonly after?: string;
  readonly before?: string;
  readonly limit: number;
  /** By order of creation. */
  readonly order: 'asc' | 'desc';
}

/**
 * `kind` names a family of records ("key", "subscription", "job" …); ids are unique within it. Values are kept as JSON.
 * Calls reject with `unavailable` (503) when the store cannot answer; a change may then have happened or not.
 */
export interface State {
  /** False when the id is taken. */
  create<T>(kind: string, record: NewRecord<T>): Promise<boolean>;
  get<T>(kind: string, id: string): Promise<StoredRecord<T> | undefined>;
  /** Compare and set: false when the version is not the stored one any more. The index is replaced whole (absent: removed). */
  update<T>(
    kind: string,
    id: string,
    version: number,
    change: { value: T; index?: RecordIndex },
  ): Promise<boolean>;
  /** With a version, only if it is still the stored one. False when nothing was removed. */
  remove(kind: string, id: string, version?: number): Promise<boolean>;
  list<T>(kind: string, query: ListQuery): Promise<readonly StoredRecord<T>[]>;
  /** Records of a group whose time is at or before `until`, earliest first, ties by order of creation. */
  due<T>(
    kind: string,
    query: { group: string; until: number; limit: number },
  ): Promise<readonly StoredRecord<T>[]>;
  /** Number of records of a group with a time at or before `until`. */
  countDue(kind: string, query: { group: string; until: number }): Promise<number>;
  /** Resolves when the store answers; rejects with a plain sentence when it does not. */
  check(): Promise<void>;
  close(): Promise<void>;
}
