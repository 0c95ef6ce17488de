/** The vector store routes in words and schemas, for the OpenAPI document. */
import type { TObject, TSchema } from 'typebox';
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import {
  AddFileForm,
  CreateVectorStore,
  ItemPageQuery,
  PageQuery,
  SearchPage,
  SearchQueryRequest,
  SearchRequest,
  UpdateItem,
  VectorStore,
  VectorStoreDeleted,
  VectorStoreFile,
  VectorStoreFileDeleted,
  VectorStoreFileList,
  VectorStoreItem,
  VectorStoreItemList,
  VectorStoreList,
} from '../../schemas/vector-store.ts';
import { RagChunk, RagCompletion, RagRequest } from '../../schemas/vector-store-chat.ts';

const tag = 'Vector stores';

/** What is stored, looked at, paged through or deleted. */
const stored = (summary: string, answer: TSchema, query?: TObject): RouteDoc => ({
  tag,
  summary,
  ...(query === undefined ? {} : { query }),
  answer: json(answer),
  errors: [400, 503],
});

/** Takes a text that is embedded. */
const embeds = { tag, errors: [400, 413, 429, 502, 503] } as const;

export const vectorStoreDocs = {
  create: {
    tag,
    summary: 'A new vector store',
    body: json(CreateVectorStore),
    status: 201,
    answer: json(VectorStore),
    errors: [400, 404, 413, 503],
  },
  list: stored("The subscription's vector stores", VectorStoreList, PageQuery),
  get: stored('One vector store', VectorStore),
  remove: stored('A vector store deleted with everything in it', VectorStoreDeleted),
  addFile: {
    tag,
    summary: 'A file read, split into items, embedded and added; large ones after the answer',
    body: { 'multipart/form-data': AddFileForm },
    status: 201,
    answer: json(VectorStoreFile),
    errors: [400, 413, 503],
  },
  files: stored('Files of a vector store', VectorStoreFileList, PageQuery),
  file: stored('One file of a vector store', VectorStoreFile),
  removeFile: stored('A file deleted with its items', VectorStoreFileDeleted),
  items: stored('Items of a vector store', VectorStoreItemList, ItemPageQuery),
  item: stored('One item of a vector store', VectorStoreItem),
  updateItem: {
    ...embeds,
    summary: 'A new description of an item, which search finds it by from now on',
    body: json(UpdateItem),
    status: 202,
    answer: json(VectorStoreItem),
  },
  removeItem: { tag, summary: 'An item deleted', status: 204, errors: [400, 503] },
  search: {
    ...embeds,
    summary: 'The items nearest in meaning to a text, best first',
    body: json(SearchRequest),
    answer: json(SearchPage),
  },
  searchQuery: {
    ...embeds,
    summary: 'The same search with the field names of the OpenAI API',
    body: json(SearchQueryRequest),
    answer: json(SearchPage),
  },
  chat: {
    tag: 'Chat',
    summary: 'A chat completion whose model is given items of a vector store that fit the conversation',
    body: json(RagRequest),
    answer: { ...json(RagCompletion), 'text/event-stream': RagChunk },
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
} as const satisfies Record<string, RouteDoc>;
