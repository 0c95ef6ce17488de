/** What `POST /chat/completions/RAG` takes and gives beyond a chat completion. */
import Type, { type Static } from 'typebox';
import { ChatChunk, ChatCompletion, ChatRequest } from './chat.ts';
import { SearchResult } from './vector-store.ts';

export const RagRequest = Type.Object(
  {
    ...ChatRequest.properties,
    collection: Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'Id of the vector store to search for context',
    }),
    model: Type.String({ minLength: 1, maxLength: 512 }),
  },
  { title: 'RagRequest' },
);
export type RagRequest = Static<typeof RagRequest>;

const context = {
  context: Type.Array(SearchResult, { description: 'The items the model was given, best first' }),
};

export const RagCompletion = Type.Object(
  { ...ChatCompletion.properties, ...context },
  { title: 'RagCompletion' },
);

/** The first chunk has the items. */
export const RagChunk = Type.Object(
  { ...ChatChunk.properties, context: Type.Optional(context.context) },
  { title: 'RagChunk' },
);
