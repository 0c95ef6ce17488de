/** Records of vector stores in the State port; times are Unix milliseconds. */
import Type, { type Static } from 'typebox';
import { Nullable } from '../shapes.ts';

const Time = Type.Integer({ minimum: 0 });

/** Kind `vector-store`, id `vs_…`, owned by its subscription. */
export const VectorStoreRecord = Type.Object({
  id: Type.String(),
  name: Nullable(Type.String()),
  description: Nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.String()),
  created: Time,
  lastActive: Time,
  /** Id of the model that everything in it is embedded by. */
  model: Type.String(),
  /** Length of its vectors; null until the first one, where the model's row has none. */
  dimensions: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
});
export type VectorStoreRecord = Static<typeof VectorStoreRecord>;

export const FileStatus = Type.Enum(['in_progress', 'completed', 'failed']);
export type FileStatus = Static<typeof FileStatus>;

export const FileErrorCode = Type.Enum(['server_error', 'unsupported_file', 'invalid_file']);
export type FileErrorCode = Static<typeof FileErrorCode>;

const ChunkingRecord = Type.Object({ maxTokens: Type.Integer(), overlapTokens: Type.Integer() });

/** How the bytes of an upload are to be read: as text in an encoding, or by a reader of documents. */
export const FileFormat = Type.Union([
  Type.Object({
    kind: Type.Literal('text'),
    /** A label of `TextDecoder`. */
    encoding: Type.String(),
  }),
  Type.Object({ kind: Type.Literal('document') }),
]);
export type FileFormat = Static<typeof FileFormat>;

const AttributeValue = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);

/** Kind `vector-store-file`, id `file-…`, owned by its vector store. */
export const VectorStoreFileRecord = Type.Object({
  id: Type.String(),
  store: Type.String(),
  filename: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  mediaType: Type.String(),
  created: Time,
  status: FileStatus,
  error: Type.Union([Type.Object({ code: FileErrorCode, message: Type.String() }), Type.Null()]),
  attributes: Type.Record(Type.String(), AttributeValue),
  chunking: ChunkingRecord,
  /** Items of it that are in the store. */
  items: Type.Integer({ minimum: 0 }),
});
export type VectorStoreFileRecord = Static<typeof VectorStoreFileRecord>;

/** Kind `ingestion`, id of the file: an upload that is not in its store yet. Due when no gateway works on it. */
export const IngestionRecord = Type.Object({
  file: Type.String(),
  store: Type.String(),
  subscription: Type.String(),
  key: Type.String(),
  /** Of the key: embedding is billed to budgets of theirs. */
  tags: Type.Optional(Type.Array(Type.String())),
  blob: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  format: FileFormat,
  /** Items that are embedded, and billed, at once; fixed at the start, as the batches are counted by it. */
  batch: Type.Integer({ minimum: 1 }),
  /** Batches that are in the store. */
  done: Type.Integer({ minimum: 0 }),
  /** Times it was begun in vain since the last batch. */
  attempts: Type.Integer({ minimum: 0 }),
});
export type IngestionRecord = Static<typeof IngestionRecord>;

/** What all vector stores of a subscription hold. */
export const StorageUsed = Type.Object({
  bytes: Type.Integer({ minimum: 0 }),
  files: Type.Integer({ minimum: 0 }),
  items: Type.Integer({ minimum: 0 }),
});
export type StorageUsed = Static<typeof StorageUsed>;

/** Kind `storage`, id of a subscription. */
export const StorageRecord = Type.Object({
  used: StorageUsed,
  /** Uploads that are being received, and have room kept for them. */
  uploads: Type.Array(Type.Object({ id: Type.String(), bytes: Type.Integer({ minimum: 0 }), since: Time })),
});
export type StorageRecord = Static<typeof StorageRecord>;

/** Kind `vector-store-removal`, id of a deleted vector store, until all of it is removed. */
export const VectorStoreRemovalRecord = Type.Object({ removed: Time });
export type VectorStoreRemovalRecord = Static<typeof VectorStoreRemovalRecord>;
