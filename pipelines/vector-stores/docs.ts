/** What the OpenAPI document says of the routes of vector stores. */
import Type, { type TSchema } from 'typebox';
import { ragExamples } from '../../schemas/examples/chat.ts';
import { vectorStoreExamples as examples } from '../../schemas/examples/vector-stores.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import { RagChunk, RagCompletion, RagRequest } from '../../schemas/vector-stores/chat.ts';
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
} from '../../schemas/vector-stores/vector-store.ts';
import { callHeaders, generationErrors, resumableHeaders, resumableReply } from '../route.ts';

const tag = 'Vector stores';

type Words = Pick<RouteDoc, 'summary' | 'description' | 'examples' | 'params' | 'query'>;

/** What is stored, looked at, paged through or deleted. */
const stored = (words: Words, response: TSchema): RouteDoc => ({
  tag,
  ...words,
  response: json(response),
  errors: [400, 503],
});

const storeId = Type.String({
  description: 'Id of the vector store',
  examples: ['vs_c905707f2bb2cd8441c38b33'],
});
const StorePath = Type.Object({ id: storeId });
const FilePath = Type.Object({
  id: storeId,
  fileid: Type.String({ description: 'Id of the file', examples: ['file-ab9021390a8a7e012f3ffa0a'] }),
});
const ItemPath = Type.Object({
  id: storeId,
  itemid: Type.String({ description: 'Id of the item', examples: ['item_76246d2bb2a5d05fa34f71c2'] }),
});

/** Takes a text that is embedded. */
const embeds = { tag, errors: [400, 413, 429, 502, 503] } as const;

export const docs = {
  search: {
    ...embeds,
    summary: 'Search a vector store',
    description:
      'Returns the items nearest in meaning to a text, the best first. An item is found by its text and by its description. The text is embedded by the model of the store, and billed as its input tokens. An unknown id is a 400.',
    params: StorePath,
    examples: examples.search,
    body: json(SearchRequest),
    response: json(SearchPage),
  },
  getItem: stored(
    {
      summary: 'Get an item',
      description: 'One item: a passage of a file, and its description. An unknown id is a 400.',
      params: ItemPath,
      examples: examples.getItem,
    },
    VectorStoreItem,
  ),
  updateItem: {
    ...embeds,
    summary: 'Describe an item',
    description:
      'Gives an item a new description, by which search finds it from now on. It is embedded, and billed as input tokens. An unknown id is a 400.',
    params: ItemPath,
    examples: examples.updateItem,
    body: json(UpdateItem),
    status: 202,
    response: json(VectorStoreItem),
  },
  deleteItem: {
    tag,
    summary: 'Delete an item',
    description: 'Removes an item from the store; its file stays. An unknown id is a 400.',
    params: ItemPath,
    status: 204,
    errors: [400, 503],
  },
  listItems: stored(
    {
      summary: 'List items',
      description: 'The items of a vector store or of one of its files, in the order of their places.',
      params: StorePath,
      query: ItemPageQuery,
      examples: examples.listItems,
    },
    VectorStoreItemList,
  ),
  searchQuery: {
    ...embeds,
    summary: 'Search with a query',
    description:
      'The same as `POST /vector_store/{id}/search`, with the field names that the OpenAI SDKs use. `filters` is a 400.',
    params: StorePath,
    examples: examples.searchQuery,
    body: json(SearchQueryRequest),
    response: json(SearchPage),
  },
  rag: {
    tag: 'Chat',
    summary: 'Complete a chat with context',
    description:
      'A chat completion whose model is given the items of a vector store that fit the conversation; `context` of the response, or of its first chunk, has these items. Takes every field of `POST /chat/completions`, and `collection`. The search is billed as input tokens of the embedding model, the chat as any other. An unknown collection is a 400.',
    examples: ragExamples,
    replyHeaders: [...callHeaders, ...resumableReply],
    headers: resumableHeaders,
    body: json(RagRequest),
    response: { ...json(RagCompletion), 'text/event-stream': RagChunk },
    errors: generationErrors,
  },
  createStore: {
    tag,
    summary: 'Create a vector store',
    description:
      'An empty vector store of the subscription. The embedding model is chosen once, here. `/vector_store` and `/vector_stores` are the same.',
    examples: examples.createStore,
    body: json(CreateVectorStore),
    status: 201,
    response: json(VectorStore),
    errors: [400, 404, 413, 503],
  },
  listStores: stored(
    {
      summary: 'List vector stores',
      description: 'The vector stores of the subscription, newest first unless `order` says otherwise.',
      query: PageQuery,
      examples: examples.listStores,
    },
    VectorStoreList,
  ),
  getStore: stored(
    {
      summary: 'Get a vector store',
      description: 'One vector store, with the number of its files and items. An unknown id is a 400.',
      params: StorePath,
      examples: examples.getStore,
    },
    VectorStore,
  ),
  deleteStore: stored(
    {
      summary: 'Delete a vector store',
      description: 'Removes a vector store with all its files and items. An unknown id is a 400.',
      params: StorePath,
      examples: examples.deleteStore,
    },
    VectorStoreDeleted,
  ),
  addFile: {
    tag,
    summary: 'Add a file',
    description:
      'Reads a file of up to 100 MB, splits it into items, embeds them and adds them to the store. A large file is still `in_progress` in the response: read it until it is `completed` or `failed`. Its tokens are billed as input of the embedding model. An unknown id is a 400.',
    params: StorePath,
    examples: examples.addFile,
    body: { 'multipart/form-data': AddFileForm },
    status: 201,
    response: json(VectorStoreFile),
    errors: [400, 413, 503],
  },
  listFiles: stored(
    {
      summary: 'List files',
      description: 'The files of a vector store, newest first unless `order` says otherwise.',
      params: StorePath,
      query: PageQuery,
      examples: examples.listFiles,
    },
    VectorStoreFileList,
  ),
  getFile: stored(
    {
      summary: 'Get a file',
      description: 'One file: whether it has been read, and the ids of its first hundred items.',
      params: FilePath,
      examples: examples.getFile,
    },
    VectorStoreFile,
  ),
  deleteFile: stored(
    {
      summary: 'Delete a file',
      description: 'Removes a file from a vector store, with its items. An unknown id is a 400.',
      params: FilePath,
      examples: examples.deleteFile,
    },
    VectorStoreFileDeleted,
  ),
};
