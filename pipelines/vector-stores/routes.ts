/** The rows of the route table for vector stores: under the contract's name, and under the one that OpenAI's clients use. */

import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { vectorStoreAddFile } from './add-file.ts';
import { vectorStoreDocs } from './docs.ts';
import { vectorStoreFile, vectorStoreFileDelete, vectorStoreFiles } from './files.ts';
import { vectorStoreItem, vectorStoreItemDelete, vectorStoreItems, vectorStoreItemUpdate } from './items.ts';
import { chatCompletionsRag } from './rag.ts';
import { maxForm } from './receive-upload.ts';
import { vectorStoreCreate, vectorStoreDelete, vectorStoreGet, vectorStoreList } from './records.ts';
import { readInputSearch, readQuerySearch, vectorStoreSearch } from './search.ts';

const jsonLimit = 1024 * 1024;

export const vectorStoreRoutes = (ports: Ports): readonly Route[] => [
  ...commonRoutes(ports, '/vector_store'),
  {
    method: 'POST',
    path: '/vector_store/{id}/search',
    access: 'key',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreSearch(ports, readInputSearch),
    doc: vectorStoreDocs.search,
  },
  {
    method: 'GET',
    path: '/vector_store/{id}/items/{itemid}',
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreItem(ports),
    doc: vectorStoreDocs.item,
  },
  {
    method: 'PATCH',
    path: '/vector_store/{id}/items/{itemid}',
    access: 'key',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreItemUpdate(ports),
    doc: vectorStoreDocs.updateItem,
  },
  {
    method: 'DELETE',
    path: '/vector_store/{id}/items/{itemid}',
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreItemDelete(ports),
    doc: vectorStoreDocs.removeItem,
  },
  {
    method: 'GET',
    path: '/vector_store/{id}/items',
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreItems(ports),
    doc: vectorStoreDocs.items,
  },
  ...commonRoutes(ports, '/vector_stores'),
  {
    method: 'POST',
    path: '/vector_stores/{id}/search',
    access: 'key',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreSearch(ports, readQuerySearch),
    doc: vectorStoreDocs.searchQuery,
  },
  {
    method: 'POST',
    path: '/chat/completions/RAG',
    access: 'key',
    // Images, sound and documents come as base64.
    bodyLimit: 128 * 1024 * 1024,
    pipeline: chatCompletionsRag(ports),
    doc: vectorStoreDocs.chat,
  },
];

const commonRoutes = (ports: Ports, path: string): readonly Route[] => [
  {
    method: 'POST',
    path,
    access: 'key',
    bodyLimit: jsonLimit,
    pipeline: vectorStoreCreate(ports),
    doc: vectorStoreDocs.create,
  },
  {
    method: 'GET',
    path,
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreList(ports),
    doc: vectorStoreDocs.list,
  },
  {
    method: 'GET',
    path: `${path}/{id}`,
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreGet(ports),
    doc: vectorStoreDocs.get,
  },
  {
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreDelete(ports),
    doc: vectorStoreDocs.remove,
  },
  {
    method: 'POST',
    path: `${path}/{id}/files`,
    access: 'key',
    bodyLimit: maxForm,
    pipeline: vectorStoreAddFile(ports),
    doc: vectorStoreDocs.addFile,
  },
  {
    method: 'GET',
    path: `${path}/{id}/files`,
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreFiles(ports),
    doc: vectorStoreDocs.files,
  },
  {
    method: 'GET',
    path: `${path}/{id}/files/{fileid}`,
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreFile(ports),
    doc: vectorStoreDocs.file,
  },
  {
    method: 'DELETE',
    path: `${path}/{id}/files/{fileid}`,
    access: 'key',
    bodyLimit: 0,
    pipeline: vectorStoreFileDelete(ports),
    doc: vectorStoreDocs.removeFile,
  },
];
