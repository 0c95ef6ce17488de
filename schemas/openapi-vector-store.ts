/** The vector store routes in words and schemas, for the OpenAPI document. */
import { json, type RouteDoc } from './openapi.ts';
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
} from './vector-store.ts';
import { RagChunk, RagCompletion, RagRequest } from './vector-store-chat.ts';

const tag = 'Vector stores';

export const vectorStoreDocs = {
  create: {
    tag,
    summary: 'A new vector store',
    body: json(CreateVectorStore),
    status: 201,
    answer: json(VectorStore),
    errors: [400, 404, 413, 503],
  },
  list: {
    tag,
    summary: "The subscription's vector stores",
    query: PageQuery,
    answer: json(VectorStoreList),
    errors: [400, 503],
  },
  get: { tag, summary: 'One vector store', answer: json(VectorStore), errors: [400, 503] },
  remove: {
    tag,
    summary: 'A vector store deleted with everything in it',
    answer: json(VectorStoreDeleted),
    errors: [400, 503],
  },
  addFile: {
    tag,
    summary: 'A file read, parted into passages, embedded and added; large ones after the answer',
    body: { 'multipart/form-data': AddFileForm },
    status: 201,
    answer: json(VectorStoreFile),
    errors: [400, 413, 503],
  },
  files: {
    tag,
    summary: 'Files of a vector store',
    query: PageQuery,
    answer: json(VectorStoreFileList),
    errors: [400, 503],
  },
  file: { tag, summary: 'One file of a vector store', answer: json(VectorStoreFile), errors: [400, 503] },
  removeFile: {
    tag,
    summary: 'A file deleted with its items',
    answer: json(VectorStoreFileDeleted),
    errors: [400, 503],
  },
  items: {
    tag,
    summary: 'Items of a vector store',
    query: ItemPageQuery,
    answer: json(VectorStoreItemList),
    errors: [400, 503],
  },
  item: { tag, summary: 'One item of a vector store', answer: json(VectorStoreItem), errors: [400, 503] },
  updateItem: {
    tag,
    summary: 'A new description of an item, which search finds it by from now on',
    body: json(UpdateItem),
    status: 202,
    answer: json(VectorStoreItem),
    errors: [400, 413, 429, 502, 503],
  },
  removeItem: { tag, summary: 'An item deleted', status: 204, errors: [400, 503] },
  search: {
    tag,
    summary: 'The items nearest in meaning to a text, best first',
    body: json(SearchRequest),
    answer: json(SearchPage),
    errors: [400, 413, 429, 502, 503],
  },
  searchQuery: {
    tag,
    summary: 'The same search with the field names of the OpenAI API',
    body: json(SearchQueryRequest),
    answer: json(SearchPage),
    errors: [400, 413, 429, 502, 503],
  },
  chat: {
    tag: 'Chat',
    summary: 'A chat completion whose model is given passages of a vector store that fit the conversation',
    body: json(RagRequest),
    answer: { ...json(RagCompletion), 'text/event-stream': RagChunk },
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
} as const satisfies Record<string, RouteDoc>;
