/** Vector stores: records, files being ingested, and items found by similarity. */
import type { Model } from '../../schemas/catalog.ts';
import type {
  FileFormat,
  StorageUsed,
  VectorStoreFileRecord,
  VectorStoreRecord,
} from '../../schemas/vector-stores/records.ts';
import type { Caller } from './exchange.ts';
import type { SplitRules } from './offload.ts';
import type { Hit, Item, ItemPage } from './vectors.ts';

export interface NewVectorStore {
  readonly name: string | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly model: Model;
}

/** A record, and what is counted when it is asked for. */
export interface VectorStoreView {
  readonly store: VectorStoreRecord;
  readonly files: { readonly inProgress: number; readonly completed: number; readonly failed: number };
  readonly items: number;
}

export interface RecordPage {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly after?: string;
  readonly before?: string;
}

/** An upload that is safe in Blobs. */
export interface Upload {
  /** Id of the file it becomes; its blob is named after it. */
  readonly file: string;
  readonly blob: string;
  readonly filename: string;
  readonly bytes: number;
  readonly mediaType: string;
  readonly format: FileFormat;
  readonly chunking: SplitRules;
  readonly attributes: VectorStoreFileRecord['attributes'];
  /** The room that it takes of the subscription's quota. */
  readonly reservation: Reservation;
}

/** Most of what a subscription may have in all its vector stores. */
export type StorageLimits = StorageUsed;

export interface StorageView {
  readonly used: StorageUsed;
  readonly limits: StorageLimits;
}

/** Room for an upload that is being received. */
export interface Reservation {
  /** It became a file of so many bytes. */
  kept(bytes: number): Promise<void>;
  /** Nothing came of it. */
  release(): Promise<void>;
}

export interface FileView {
  readonly file: VectorStoreFileRecord;
  /** Ids of its first items. */
  readonly items: readonly string[];
}

/**
 * Another subscription's vector store is not there, nor is what is not found by search yet. What is not there is an
 * `invalid_request` that names the field; `unavailable` when a store behind it cannot answer.
 */
export interface VectorStores {
  create(subscription: string, store: NewVectorStore): Promise<VectorStoreView>;
  /** `field` is named in the refusal. */
  get(subscription: string, id: string, field: string): Promise<VectorStoreRecord>;
  view(store: VectorStoreRecord): Promise<VectorStoreView>;
  list(subscription: string, page: RecordPage): Promise<readonly VectorStoreView[]>;
  /** With everything in it, files that are being read included. */
  remove(subscription: string, id: string): Promise<void>;

  /** Before an upload of so many bytes is received; rejects with `payload_too_large` when the quota has no room for it. */
  reserve(subscription: string, bytes: number): Promise<Reservation>;
  storage(subscription: string): Promise<StorageView>;
  /** Uploads refused for a quota since the start. */
  readonly refused: number;

  /**
   * The upload becomes a file of the vector store: at once where it is small, else in the background, where it goes on
   * after a restart. Rejects with why a small file cannot be read; nothing of it is left then.
   */
  add(store: VectorStoreRecord, upload: Upload, caller: Caller): Promise<FileView>;
  file(store: VectorStoreRecord, id: string, field: string): Promise<FileView>;
  files(store: VectorStoreRecord, page: RecordPage): Promise<readonly FileView[]>;
  removeFile(store: VectorStoreRecord, id: string): Promise<void>;

  item(store: VectorStoreRecord, id: string): Promise<Item>;
  items(store: VectorStoreRecord, page: ItemPage): Promise<readonly Item[]>;
  describe(
    store: VectorStoreRecord,
    id: string,
    change: { readonly description: string; readonly vector: Float32Array },
  ): Promise<Item>;
  removeItem(store: VectorStoreRecord, id: string): Promise<void>;

  /** Best first, over all queries. */
  search(
    store: VectorStoreRecord,
    queries: readonly Float32Array[],
    options: { readonly limit: number; readonly minimum?: number },
  ): Promise<readonly FoundItem[]>;
  close(): Promise<void>;
}

export interface FoundItem extends Hit {
  /** Of its file. */
  readonly attributes: VectorStoreFileRecord['attributes'];
}
