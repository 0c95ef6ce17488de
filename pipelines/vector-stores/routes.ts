/** Routes of vector stores, under the name of the contract and the one that OpenAI's clients use. */
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
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, mediaBodyLimit, type Route, resumableHeaders } from '../route.ts';
import { vectorStoreAddFile, vectorStoreFile, vectorStoreFileDelete, vectorStoreFiles } from './files.ts';
import { vectorStoreItem, vectorStoreItemDelete, vectorStoreItems, vectorStoreItemUpdate } from './items.ts';
import { chatCompletionsRag } from './rag.ts';
import { maxForm } from './receive-upload.ts';
import { readInputSearch, readQuerySearch, vectorStoreSearch } from './search.ts';
import { vectorStoreCreate, vectorStoreDelete, vectorStoreGet, vectorStoreList } from './stores.ts';

const tag = 'Vector stores';

/** What is stored, looked at, paged through or deleted. */
const stored = (summary: string, response: TSchema, query?: TObject): RouteDoc => ({
  tag,
  summary,
  ...(query === undefined ? {} : { query }),
  response: json(response),
  errors: [400, 503],
});

/** Takes a text that is embedded. */
const embeds = { tag, errors: [400, 413, 429, 502, 503] } as const;

const jsonLimit = 1024 * 1024;

export const vectorStoreRoutes = (ports: Ports): readonly Route[] => [
  ...commonRoutes(ports, '/vector_store'),
  {
    method: 'POST',
    path: '/vector_store/{id}/search',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreSearch(ports, readInputSearch),
    doc: {
      ...embeds,
      summary: 'The items nearest in meaning to a text, best first',
      body: json(SearchRequest),
      response: json(SearchPage),
    },
  },
  {
    method: 'GET',
    path: '/vector_store/{id}/items/{itemid}',
    pipeline: vectorStoreItem(ports),
    doc: stored('One item of a vector store', VectorStoreItem),
  },
  {
    method: 'PATCH',
    path: '/vector_store/{id}/items/{itemid}',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreItemUpdate(ports),
    doc: {
      ...embeds,
      summary: 'A new description of an item, which search finds it by from now on',
      body: json(UpdateItem),
      status: 202,
      response: json(VectorStoreItem),
    },
  },
  {
    method: 'DELETE',
    path: '/vector_store/{id}/items/{itemid}',
    pipeline: vectorStoreItemDelete(ports),
    doc: { tag, summary: 'An item deleted', status: 204, errors: [400, 503] },
  },
  {
    method: 'GET',
    path: '/vector_store/{id}/items',
    pipeline: vectorStoreItems(ports),
    doc: stored('Items of a vector store', VectorStoreItemList, ItemPageQuery),
  },
  ...commonRoutes(ports, '/vector_stores'),
  {
    method: 'POST',
    path: '/vector_stores/{id}/search',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreSearch(ports, readQuerySearch),
    doc: {
      ...embeds,
      summary: 'The same search with the field names of the OpenAI API',
      body: json(SearchQueryRequest),
      response: json(SearchPage),
    },
  },
  {
    method: 'POST',
    path: '/chat/completions/RAG',
    bodyLimit: mediaBodyLimit,
    pipeline: admitBeforeBody(ports, 'chat', chatCompletionsRag(ports)),
    doc: {
      tag: 'Chat',
      summary: 'A chat completion whose model is given items of a vector store that fit the conversation',
      headers: resumableHeaders,
      body: json(RagRequest),
      response: { ...json(RagCompletion), 'text/event-stream': RagChunk },
      errors: generationErrors,
    },
  },
];

const commonRoutes = (ports: Ports, path: string): readonly Route[] => [
  {
    method: 'POST',
    path,
    bodyLimit: jsonLimit,
    pipeline: vectorStoreCreate(ports),
    doc: {
      tag,
      summary: 'A new vector store',
      body: json(CreateVectorStore),
      status: 201,
      response: json(VectorStore),
      errors: [400, 404, 413, 503],
    },
  },
  {
    method: 'GET',
    path,
    pipeline: vectorStoreList(ports),
    doc: stored("The subscription's vector stores", VectorStoreList, PageQuery),
  },
  {
    method: 'GET',
    path: `${path}/{id}`,
    pipeline: vectorStoreGet(ports),
    doc: stored('One vector store', VectorStore),
  },
  {
    method: 'DELETE',
    path: `${path}/{id}`,
    pipeline: vectorStoreDelete(ports),
    doc: stored('A vector store deleted with everything in it', VectorStoreDeleted),
  },
  {
    method: 'POST',
    path: `${path}/{id}/files`,
    bodyLimit: maxForm,
    pipeline: vectorStoreAddFile(ports),
    doc: {
      tag,
      summary: 'A file read, split into items, embedded and added; large ones after the response',
      body: { 'multipart/form-data': AddFileForm },
      status: 201,
      response: json(VectorStoreFile),
      errors: [400, 413, 503],
    },
  },
  {
    method: 'GET',
    path: `${path}/{id}/files`,
    pipeline: vectorStoreFiles(ports),
    doc: stored('Files of a vector store', VectorStoreFileList, PageQuery),
  },
  {
    method: 'GET',
    path: `${path}/{id}/files/{fileid}`,
    pipeline: vectorStoreFile(ports),
    doc: stored('One file of a vector store', VectorStoreFile),
  },
  {
    method: 'DELETE',
    path: `${path}/{id}/files/{fileid}`,
    pipeline: vectorStoreFileDelete(ports),
    doc: stored('A file deleted with its items', VectorStoreFileDeleted),
  },
];
