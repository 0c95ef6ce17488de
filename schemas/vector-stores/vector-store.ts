/** Requests and responses of the vector store routes. */
import Type, { type Static } from 'typebox';
import {
  ByName,
  Count,
  CountOf,
  Described,
  deletedFields,
  listFields,
  Metadata,
  Nullable,
  Titled,
  UnixSeconds,
} from '../shapes.ts';
import { FileErrorCode, FileStatus } from './records.ts';

const UnixTime = UnixSeconds();

// ── requests ───────────────────────────────────────────────────────────────────────────────────────

export const CreateVectorStore = Titled('CreateVectorStore', {
  name: Type.Optional(Type.String({ maxLength: 256, description: 'Name for people' })),
  description: Type.Optional(Type.String({ maxLength: 4096, description: 'What is in it, for people' })),
  metadata: Type.Optional(Metadata),
  embedding_model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        'Embeds everything in the store, and cannot change; the default embedding model when absent',
    }),
  ),
});
export type CreateVectorStore = Static<typeof CreateVectorStore>;

/** What an item has at most, and repeats of the one before it. */
export const ChunkingStrategy = Type.Object({
  type: Type.Enum(['auto', 'static'], { description: '`auto` leaves the sizes to the gateway' }),
  static: Type.Optional(
    Type.Object(
      {
        max_chunk_size_tokens: Type.Integer({
          minimum: 100,
          maximum: 4096,
          description: 'Tokens that an item has at most',
        }),
        chunk_overlap_tokens: Type.Integer({
          minimum: 0,
          maximum: 2048,
          description: 'Tokens that it repeats of the item before it',
        }),
      },
      { description: 'The sizes, for `static`' },
    ),
  ),
});
export type ChunkingStrategy = Static<typeof ChunkingStrategy>;

export const Attributes = ByName(
  Type.Union([Type.String({ maxLength: 512 }), Type.Number(), Type.Boolean()]),
  {
    maxProperties: 16,
    longestName: 64,
    description: 'Up to 16 notes about the file: texts, numbers and booleans by name',
  },
);

export const AddFileForm = Titled('AddFileForm', {
  file: Type.String({
    format: 'binary',
    description: 'Text, Markdown, HTML, CSV, JSON, PDF or DOCX, detected from its bytes; up to 100 MB',
  }),
  chunking_strategy: Type.Optional(
    Type.String({
      description:
        'How the file is split, as JSON: `{"type": "auto"}`, or `static` with `max_chunk_size_tokens` and `chunk_overlap_tokens`',
    }),
  ),
  attributes: Type.Optional(
    Type.String({
      description: 'Notes that search results show, as JSON: texts, numbers and booleans by name',
    }),
  ),
});

const ScoreThreshold = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'Only results with at least this score',
});

const SearchOptions = {
  max_num_results: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, description: 'Most results; 10 by default' }),
  ),
  score_threshold: Type.Optional(ScoreThreshold),
};

export const SearchRequest = Titled('SearchRequest', {
  input: Type.String({ minLength: 1, description: 'What to search for' }),
  ...SearchOptions,
});
export type SearchRequest = Static<typeof SearchRequest>;

/** With the field names of OpenAI's clients. */
export const SearchQueryRequest = Titled('SearchQueryRequest', {
  query: Type.Union(
    [Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16 })],
    { description: 'What to search for; several texts are searched for together' },
  ),
  ...SearchOptions,
  ranking_options: Type.Optional(
    Type.Object(
      { score_threshold: Type.Optional(ScoreThreshold) },
      { description: 'Another place for `score_threshold`' },
    ),
  ),
  /** Rejected by the reader: ignoring it would return items that were filtered out. */
  filters: Type.Optional(Type.Unknown({ description: 'Refused: there are no filters' })),
});
export type SearchQueryRequest = Static<typeof SearchQueryRequest>;

export const UpdateItem = Titled('UpdateItem', {
  description: Type.String({
    maxLength: 8192,
    description: 'Embedded with the text of the item: search finds it by both',
  }),
});

const PageSize = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries of a page' }),
);

export const PageQuery = Type.Object({
  limit: PageSize,
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By creation; desc by default' })),
  after: Type.Optional(Type.String({ description: 'Id of the entry before the page' })),
  before: Type.Optional(Type.String({ description: 'Id of the entry after the page' })),
});

export const ItemPageQuery = Type.Object({
  limit: PageSize,
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By file and place; asc by default' })),
  after: Type.Optional(Type.String({ description: 'Id of the item before the page' })),
  file_id: Type.Optional(Type.String({ description: 'Items of this file only' })),
});

// ── responses ────────────────────────────────────────────────────────────────────────────────────────

export const VectorStore = Titled('VectorStore', {
  id: Type.String({ pattern: '^vs_', description: 'Id of the vector store' }),
  object: Type.Literal('vector_store'),
  name: Nullable(Type.String(), 'Name for people'),
  description: Nullable(Type.String(), 'What is in it, for people'),
  created_at: UnixTime,
  last_active_at: UnixSeconds('Unix seconds of the last search or change'),
  status: Type.Enum(['completed', 'in_progress'], { description: 'in_progress while files are read' }),
  usage_bytes: Type.Integer({ minimum: 0, description: 'Of its vectors' }),
  file_counts: Type.Object(
    { in_progress: Count, completed: Count, failed: Count, cancelled: Count, total: Count },
    { description: 'Files by their status' },
  ),
  item_count: CountOf('Items that search can find'),
  metadata: Metadata,
  expires_at: Type.Null(),
  embedding_model: Type.String({ description: 'Embeds everything in the store' }),
});
export type VectorStore = Static<typeof VectorStore>;

export const VectorStoreFile = Titled('VectorStoreFile', {
  id: Type.String({ pattern: '^file-', description: 'Id of the file' }),
  object: Type.Literal('vector_store.file'),
  vector_store_id: Type.String({ description: 'The vector store that it is in' }),
  filename: Type.String({ description: 'As it was uploaded' }),
  bytes: CountOf('Of the upload'),
  usage_bytes: Type.Integer({ minimum: 0, description: 'Of its vectors' }),
  media_type: Type.String({ description: 'Detected from its bytes' }),
  created_at: UnixTime,
  status: Described(FileStatus, 'in_progress until all of its items can be found'),
  last_error: Nullable(Type.Object({ code: FileErrorCode, message: Type.String() }), 'Why it failed'),
  attributes: Attributes,
  chunking_strategy: Type.Object(
    {
      type: Type.Literal('static'),
      static: Type.Object({ max_chunk_size_tokens: Count, chunk_overlap_tokens: Count }),
    },
    { description: 'How it was split' },
  ),
  item_count: CountOf('Items made of it so far'),
  item_ids: Type.Array(Type.String(), { description: 'The first hundred; the rest by the list of items' }),
});
export type VectorStoreFile = Static<typeof VectorStoreFile>;

const TextContent = Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() }), {
  description: 'The passage',
});

const ItemId = Type.String({ pattern: '^item_', description: 'Id of the item' });
const ItemDescription = Type.String({ description: 'Search finds the item by it too; empty at first' });
const origin = {
  file_id: Type.String({ description: 'The file that it is a passage of' }),
  filename: Type.String({ description: 'Name of that file' }),
};

export const VectorStoreItem = Titled('VectorStoreItem', {
  id: ItemId,
  object: Type.Literal('vector_store.item'),
  vector_store_id: Type.String({ description: 'The vector store that it is in' }),
  ...origin,
  description: ItemDescription,
  content: TextContent,
  index: Type.Integer({ minimum: 0, description: 'Its place in the file' }),
  created_at: UnixTime,
  updated_at: UnixSeconds('Unix seconds of the last change of its description'),
});
export type VectorStoreItem = Static<typeof VectorStoreItem>;

export const SearchResult = Titled('SearchResult', {
  id: ItemId,
  ...origin,
  score: Type.Number({ minimum: 0, maximum: 1, description: 'How near in meaning; 1 is nearest' }),
  description: ItemDescription,
  attributes: Attributes,
  content: TextContent,
  index: Type.Integer({ minimum: 0, description: 'Its place in the file' }),
});
export type SearchResult = Static<typeof SearchResult>;

export const SearchPage = Titled('SearchPage', {
  object: Type.Literal('vector_store.search_results.page'),
  search_query: Type.Array(Type.String(), { description: 'What was searched for' }),
  data: Type.Array(SearchResult, { description: 'The best result first' }),
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
