/** Renders vector stores, files and items as the JSON objects that clients see. */

import type { VectorStoreRecord } from '../../schemas/vector-stores/records.ts';
import type {
  SearchResult,
  VectorStore,
  VectorStoreFile,
  VectorStoreItem,
} from '../../schemas/vector-stores/vector-store.ts';
import type { FileView, FoundItem, VectorStoreView } from '../../src/ports/vector-stores.ts';
import type { Item } from '../../src/ports/vectors.ts';

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

const bytesPerNumber = 4;
const vectorBytes = (items: number, { dimensions }: VectorStoreRecord): number =>
  items * (dimensions ?? 0) * bytesPerNumber;

export const vectorStoreJson = ({ store, files, items }: VectorStoreView): VectorStore => {
  const { inProgress, completed, failed } = files;
  return {
    id: store.id,
    object: 'vector_store',
    name: store.name,
    description: store.description,
    created_at: seconds(store.created),
    last_active_at: seconds(store.lastActive),
    status: inProgress > 0 ? 'in_progress' : 'completed',
    usage_bytes: vectorBytes(items, store),
    file_counts: {
      in_progress: inProgress,
      completed,
      failed,
      cancelled: 0,
      total: inProgress + completed + failed,
    },
    item_count: items,
    metadata: store.metadata,
    expires_at: null,
    embedding_model: store.model,
  };
};

export const fileJson = (store: VectorStoreRecord, { file, items }: FileView): VectorStoreFile => ({
  id: file.id,
  object: 'vector_store.file',
  vector_store_id: file.store,
  filename: file.filename,
  bytes: file.bytes,
  usage_bytes: vectorBytes(file.items, store),
  media_type: file.mediaType,
  created_at: seconds(file.created),
  status: file.status,
  last_error: file.error,
  attributes: file.attributes,
  chunking_strategy: {
    type: 'static',
    static: {
      max_chunk_size_tokens: file.chunking.maxTokens,
      chunk_overlap_tokens: file.chunking.overlapTokens,
    },
  },
  item_count: file.items,
  item_ids: [...items],
});

export const itemJson = (store: string, item: Item): VectorStoreItem => ({
  id: item.id,
  object: 'vector_store.item',
  vector_store_id: store,
  file_id: item.file,
  filename: item.filename,
  description: item.description,
  content: [{ type: 'text', text: item.text }],
  index: item.index,
  created_at: seconds(item.createdAt),
  updated_at: seconds(item.updatedAt),
});

/** A vector that points away from the query counts as unrelated to it. */
const scoreOf = (similarity: number): number => Math.min(1, Math.max(0, similarity));

export const resultJson = (found: FoundItem): SearchResult => ({
  id: found.id,
  file_id: found.file,
  filename: found.filename,
  score: scoreOf(found.similarity),
  description: found.description,
  attributes: found.attributes,
  content: [{ type: 'text', text: found.text }],
  index: found.index,
});
