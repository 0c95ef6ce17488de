/** Requests and responses of `POST /chat/completions/RAG`. */
import Type, { type Static } from 'typebox';
import { ModelName } from '../chat/fields.ts';
import { ChatRequest } from '../chat/request.ts';
import { ChatChunk, ChatCompletion } from '../chat/response.ts';
import { Titled } from '../shapes.ts';
import { SearchResult } from './vector-store.ts';

export const RagRequest = Titled('RagRequest', {
  ...ChatRequest.properties,
  collection: Type.String({
    minLength: 1,
    maxLength: 512,
    description: 'Id of the vector store to search for context',
  }),
  model: ModelName('Id of a chat model; required here'),
});
export type RagRequest = Static<typeof RagRequest>;

const context = {
  context: Type.Array(SearchResult, { description: 'The items the model was given, best first' }),
};

export const RagCompletion = Titled('RagCompletion', { ...ChatCompletion.properties, ...context });

/** The first chunk has the items. */
export const RagChunk = Titled('RagChunk', {
  ...ChatChunk.properties,
  context: Type.Optional(context.context),
});
