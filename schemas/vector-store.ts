/** Requests and responses of the vector store routes. */
import Type, { type Static } from 'typebox';
import { ByName, Count, deletedFields, listFields, Metadata, Nullable, Titled } from './shapes.ts';
import { FileErrorCode, FileStatus } from './vector-store-records.ts';

const UnixTime = Type.Integer({ description: 'Unix seconds' });

// ── requests ───────────────────────────────────────────────────────────────────────────────────────

export const CreateVectorStore = Titled('CreateVectorStore', {
  name: Type.Optional(Type.String({ maxLength: 256 })),
  description: Type.Optional(Type.String({ maxLength: 4096 })),
  metadata: Type.Optional(Metadata),
  embedding_model: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'The default embedding model when absent' }),
  ),
});
export type CreateVectorStore = Static<typeof CreateVectorStore>;

/** What an item has at most, and repeats of the one before it. */
export const ChunkingStrategy = Type.Object({
  type: Type.Enum(['auto', 'static']),
  static: Type.Optional(
    Type.Object({
      max_chunk_size_tokens: Type.Integer({ minimum: 100, maximum: 4096 }),
      chunk_overlap_tokens: Type.Integer({ minimum: 0, maximum: 2048 }),
    }),
  ),
});
export type ChunkingStrategy = Static<typeof ChunkingStrategy>;

export const Attributes = ByName(
  Type.Union([Type.String({ maxLength: 512 }), Type.Number(), Type.Boolean()]),
  { maxProperties: 16, longestName: 64 },
);

export const AddFileForm = Titled('AddFileForm', {
  file: Type.String({
    format: 'binary',
    description: 'Text, Markdown, HTML, CSV, JSON, PDF or DOCX, detected from its bytes; up to 100 MB',
  }),
  chunking_strategy: Type.Optional(Type.String({ description: 'JSON' })),
  attributes: Type.Optional(Type.String({ description: 'JSON: text, numbers and booleans by name' })),
});

const SearchOptions = {
  max_num_results: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: '10 by default' })),
  score_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};

export const SearchRequest = Titled('SearchRequest', {
  input: Type.String({ minLength: 1 }),
  ...SearchOptions,
});
export type SearchRequest = Static<typeof SearchRequest>;

/** With the field names of OpenAI's clients. */
export const SearchQueryRequest = Titled('SearchQueryRequest', {
  query: Type.Union([
    Type.String({ minLength: 1 }),
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16 }),
  ]),
  ...SearchOptions,
  ranking_options: Type.Optional(
    Type.Object({ score_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })) }),
  ),
  /** Rejected by the reader: ignoring it would return items that were filtered out. */
  filters: Type.Optional(Type.Unknown()),
});
export type SearchQueryRequest = Static<typeof SearchQueryRequest>;

export const UpdateItem = Titled('UpdateItem', { description: Type.String({ maxLength: 8192 }) });

export const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By creation; desc by default' })),
  after: Type.Optional(Type.String({ description: 'Id of the entry before the page' })),
  before: Type.Optional(Type.String({ description: 'Id of the entry after the page' })),
});

export const ItemPageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By file and place; asc by default' })),
  after: Type.Optional(Type.String({ description: 'Id of the item before the page' })),
  file_id: Type.Optional(Type.String({ description: 'Items of this file only' })),
});

// ── responses ────────────────────────────────────────────────────────────────────────────────────────

export const VectorStore = Titled('VectorStore', {
  id: Type.String({ pattern: '^vs_' }),
  object: Type.Literal('vector_store'),
  name: Nullable(Type.String()),
  description: Nullable(Type.String()),
  created_at: UnixTime,
  last_active_at: UnixTime,
  status: Type.Enum(['completed', 'in_progress'], { description: 'in_progress while files are read' }),
  usage_bytes: Type.Integer({ minimum: 0, description: 'Of its vectors' }),
  file_counts: Type.Object({
    in_progress: Count,
    completed: Count,
    failed: Count,
    cancelled: Count,
    total: Count,
  }),
  item_count: Count,
  metadata: Metadata,
  expires_at: Type.Null(),
  embedding_model: Type.String(),
});
export type VectorStore = Static<typeof VectorStore>;

export const VectorStoreFile = Titled('VectorStoreFile', {
  id: Type.String({ pattern: '^file-' }),
  object: Type.Literal('vector_store.file'),
  vector_store_id: Type.String(),
  filename: Type.String(),
  bytes: Count,
  usage_bytes: Type.Integer({ minimum: 0, description: 'Of its vectors' }),
  media_type: Type.String(),
  created_at: UnixTime,
  status: FileStatus,
  last_error: Nullable(Type.Object({ code: FileErrorCode, message: Type.String() })),
  attributes: Attributes,
  chunking_strategy: Type.Object({
    type: Type.Literal('static'),
    static: Type.Object({ max_chunk_size_tokens: Count, chunk_overlap_tokens: Count }),
  }),
  item_count: Count,
  item_ids: Type.Array(Type.String(), { description: 'The first hundred; the rest by the list of items' }),
});
export type VectorStoreFile = Static<typeof VectorStoreFile>;

const TextContent = Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() }));

export const VectorStoreItem = Titled('VectorStoreItem', {
  id: Type.String({ pattern: '^item_' }),
  object: Type.Literal('vector_store.item'),
  vector_store_id: Type.String(),
  file_id: Type.String(),
  filename: Type.String(),
  description: Type.String(),
  content: TextContent,
  index: Type.Integer({ minimum: 0, description: 'Its place in the file' }),
  created_at: UnixTime,
  updated_at: UnixTime,
});
export type VectorStoreItem = Static<typeof VectorStoreItem>;

export const SearchResult = Titled('SearchResult', {
  id: Type.String({ pattern: '^item_' }),
  file_id: Type.String(),
  filename: Type.String(),
  score: Type.Number({ minimum: 0, maximum: 1 }),
  description: Type.String(),
  attributes: Attributes,
  content: TextContent,
  index: Type.Integer({ minimum: 0, description: 'Its place in the file' }),
});
export type SearchResult = Static<typeof SearchResult>;

export const SearchPage = Titled('SearchPage', {
  object: Type.Literal('vector_store.search_results.page'),
  search_query: Type.Array(Type.String()),
  data: Type.Array(SearchResult),
  has_more: Type.Literal(false),
  next_page: Type.Null(),
});
export type SearchPage = Static<typeof SearchPage>;

export const VectorStoreList = Titled('VectorStoreList', listFields(VectorStore));
export const VectorStoreFileList = Titled('VectorStoreFileList', listFields(VectorStoreFile));
export const VectorStoreItemList = Titled('VectorStoreItemList', listFields(VectorStoreItem));

export const VectorStoreDeleted = Titled('VectorStoreDeleted', deletedFields('vector_store.deleted'));
export const VectorStoreFileDeleted = Titled(
  'VectorStoreFileDeleted',
  deletedFields('vector_store.file.deleted'),
);
