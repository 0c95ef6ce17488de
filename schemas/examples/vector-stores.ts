/** Examples of vector stores. */

const storeId = 'vs_c905707f2bb2cd8441c38b33';
const fileId = 'file-ab9021390a8a7e012f3ffa0a';
const itemId = 'item_76246d2bb2a5d05fa34f71c2';
const content = [{ type: 'text', text: '# Tides\n\nSpring tides come at full moon and at new moon.' }];
const question = 'When are spring tides?';

const store = {
  id: storeId,
  object: 'vector_store',
  name: 'guides',
  description: null,
  created_at: 1794732180,
  last_active_at: 1794732180,
  status: 'completed',
  usage_bytes: 1536,
  file_counts: { in_progress: 0, completed: 1, failed: 0, cancelled: 0, total: 1 },
  item_count: 1,
  metadata: {},
  expires_at: null,
  embedding_model: 'sluice/embed',
};

const newStore = {
  ...store,
  usage_bytes: 0,
  file_counts: { ...store.file_counts, completed: 0, total: 0 },
  item_count: 0,
};

const file = {
  id: fileId,
  object: 'vector_store.file',
  vector_store_id: storeId,
  filename: 'tides.md',
  bytes: 57,
  usage_bytes: 1536,
  media_type: 'text/markdown',
  created_at: 1794732180,
  status: 'completed',
  last_error: null,
  attributes: { language: 'en' },
  chunking_strategy: { type: 'static', static: { max_chunk_size_tokens: 320, chunk_overlap_tokens: 40 } },
  item_count: 1,
  item_ids: [itemId],
};

const item = {
  id: itemId,
  object: 'vector_store.item',
  vector_store_id: storeId,
  file_id: fileId,
  filename: 'tides.md',
  description: 'For sailors',
  content,
  index: 0,
  created_at: 1794732180,
  updated_at: 1794732190,
};

const found = {
  object: 'vector_store.search_results.page',
  search_query: [question],
  data: [
    {
      id: itemId,
      file_id: fileId,
      filename: 'tides.md',
      score: 0.58,
      description: '',
      attributes: { language: 'en' },
      content,
      index: 0,
    },
  ],
  has_more: false,
  next_page: null,
};

const json = (name: string, value: unknown) => ({ 'application/json': { [name]: value } });
const page = <Entry extends { readonly id: string }>(entry: Entry) => ({
  object: 'list',
  data: [entry],
  first_id: entry.id,
  last_id: entry.id,
  has_more: false,
});
const deleted = (id: string, object: string) => ({
  response: json('Deleted', { id, object, deleted: true }),
});

export const vectorStoreExamples = {
  createStore: {
    request: json('A name and notes', { name: 'guides', metadata: { team: 'harbour' } }),
    response: json('A new vector store', newStore),
  },
  listStores: { response: json('One vector store', page(store)) },
  getStore: { response: json('A vector store with one file', store) },
  deleteStore: deleted(storeId, 'vector_store.deleted'),
  addFile: {
    request: {
      'multipart/form-data': {
        'A file': { file: '(bytes of tides.md)', attributes: '{"language":"en"}' },
      },
    },
    response: {
      'application/json': {
        'A file that was read at once': file,
        'A large file': { ...file, status: 'in_progress', usage_bytes: 0, item_count: 0, item_ids: [] },
      },
    },
  },
  listFiles: { response: json('One file', page(file)) },
  getFile: { response: json('A file', file) },
  deleteFile: deleted(fileId, 'vector_store.file.deleted'),
  search: { request: json('A question', { input: question }), response: json('One item', found) },
  searchQuery: {
    request: json('A question', { query: question, max_num_results: 5 }),
    response: json('One item', found),
  },
  listItems: { response: json('One item', page(item)) },
  getItem: { response: json('An item', item) },
  updateItem: {
    request: json('A description', { description: 'For sailors' }),
    response: json('The changed item', item),
  },
};
