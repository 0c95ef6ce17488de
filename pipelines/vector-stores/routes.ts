/** Routes of vector stores, under the name of the contract and the one that OpenAI's clients use. */
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { mediaBodyLimit, type Route } from '../route.ts';
import { docs } from './docs.ts';
import { vectorStoreAddFile, vectorStoreFile, vectorStoreFileDelete, vectorStoreFiles } from './files.ts';
import { vectorStoreItem, vectorStoreItemDelete, vectorStoreItems, vectorStoreItemUpdate } from './items.ts';
import { chatCompletionsRag } from './rag.ts';
import { maxForm } from './receive-upload.ts';
import { readInputSearch, readQuerySearch, vectorStoreSearch } from './search.ts';
import { vectorStoreCreate, vectorStoreDelete, vectorStoreGet, vectorStoreList } from './stores.ts';

const jsonLimit = 1024 * 1024;

export const vectorStoreRoutes = (ports: Ports): readonly Route[] => [
  ...commonRoutes(ports, '/vector_store'),
  {
    method: 'POST',
    path: '/vector_store/{id}/search',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreSearch(ports, readInputSearch),
    doc: docs.search,
  },
  {
    method: 'GET',
    path: '/vector_store/{id}/items/{itemid}',
    pipeline: vectorStoreItem(ports),
    doc: docs.getItem,
  },
  {
    method: 'PATCH',
    path: '/vector_store/{id}/items/{itemid}',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreItemUpdate(ports),
    doc: docs.updateItem,
  },
  {
    method: 'DELETE',
    path: '/vector_store/{id}/items/{itemid}',
    pipeline: vectorStoreItemDelete(ports),
    doc: docs.deleteItem,
  },
  {
    method: 'GET',
    path: '/vector_store/{id}/items',
    pipeline: vectorStoreItems(ports),
    doc: docs.listItems,
  },
  ...commonRoutes(ports, '/vector_stores'),
  {
    method: 'POST',
    path: '/vector_stores/{id}/search',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreSearch(ports, readQuerySearch),
    doc: docs.searchQuery,
  },
  {
    method: 'POST',
    path: '/chat/completions/RAG',
    bodyLimit: mediaBodyLimit,
    pipeline: admitBeforeBody(ports, 'chat', chatCompletionsRag(ports)),
    doc: docs.rag,
  },
];

const commonRoutes = (ports: Ports, path: string): readonly Route[] => [
  {
    method: 'POST',
    path,
    bodyLimit: jsonLimit,
    pipeline: vectorStoreCreate(ports),
    doc: docs.createStore,
  },
  {
    method: 'GET',
    path,
    pipeline: vectorStoreList(ports),
    doc: docs.listStores,
  },
  {
    method: 'GET',
    path: `${path}/{id}`,
    pipeline: vectorStoreGet(ports),
    doc: docs.getStore,
  },
  {
    method: 'DELETE',
    path: `${path}/{id}`,
    pipeline: vectorStoreDelete(ports),
    doc: docs.deleteStore,
  },
  {
    method: 'POST',
    path: `${path}/{id}/files`,
    bodyLimit: maxForm,
    pipeline: vectorStoreAddFile(ports),
    doc: docs.addFile,
  },
  {
    method: 'GET',
    path: `${path}/{id}/files`,
    pipeline: vectorStoreFiles(ports),
    doc: docs.listFiles,
  },
  {
    method: 'GET',
    path: `${path}/{id}/files/{fileid}`,
    pipeline: vectorStoreFile(ports),
    doc: docs.getFile,
  },
  {
    method: 'DELETE',
    path: `${path}/{id}/files/{fileid}`,
    pipeline: vectorStoreFileDelete(ports),
    doc: docs.deleteFile,
  },
];
