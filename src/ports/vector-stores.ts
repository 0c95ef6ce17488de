/** Vector stores as pipelines see them: records, files on their way in, and passages found by nearness. */
import type { Model } from '../../schemas/catalog.ts';
import type {
  CollectionFileRecord,
  CollectionRecord,
  FileFormat,
} from '../../schemas/vector-store-records.ts';
import type { Caller } from './exchange.ts';
import type { SplitRules } from './offload.ts';
import type { Hit, Passage, PassagePage } from './vectors.ts';

export interface NewCollection {
  readonly name: string | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly model: Model;
}

/** A record, and what is counted when it is asked for. */
export interface CollectionView {
  readonly collection: CollectionRecord;
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
  readonly attributes: CollectionFileRecord['attributes'];
}

export interface FileView {
  readonly file: CollectionFileRecord;
  /** Ids of its first items. */
  readonly items: readonly string[];
}

/**
 * Another subscription's vector store is not there, nor is what is not found by search yet. What is not there is an
 * `invalid_request` that names the field; `unavailable` when a store behind it cannot answer.
 */
export interface Collections {
  create(subscription: string, collection: NewCollection): Promise<CollectionView>;
  /** `field` is named in the refusal. */
  get(subscription: string, id: string, field: string): Promise<CollectionRecord>;
  view(collection: CollectionRecord): Promise<CollectionView>;
  list(subscription: string, page: RecordPage): Promise<readonly CollectionView[]>;
  /** With everything in it, files that are being read included. */
  remove(subscription: string, id: string): Promise<void>;

  /**
   * The upload becomes a file of the collection: at once where it is small, else in the background, where it goes on
   * after a restart. Rejects with why a small file cannot be read; nothing of it is left then.
   */
  add(collection: CollectionRecord, upload: Upload, caller: Caller): Promise<FileView>;
  file(collection: CollectionRecord, id: string, field: string): Promise<FileView>;
  files(collection: CollectionRecord, page: RecordPage): Promise<readonly FileView[]>;
  removeFile(collection: CollectionRecord, id: string): Promise<void>;

  item(collection: CollectionRecord, id: string): Promise<Passage>;
  items(collection: CollectionRecord, page: PassagePage): Promise<readonly Passage[]>;
  describe(
    collection: CollectionRecord,
    id: string,
    change: { readonly description: string; readonly vector: Float32Array },
  ): Promise<Passage>;
  removeItem(collection: CollectionRecord, id: string): Promise<void>;

  /** Best first, over all queries. */
  search(
    collection: CollectionRecord,
    queries: readonly Float32Array[],
    options: { readonly limit: number; readonly minimum?: number },
  ): Promise<readonly FoundPassage[]>;
  close(): Promise<void>;
}

export interface FoundPassage extends Hit {
  /** Of its file. */
  readonly attributes: CollectionFileRecord['attributes'];
}
