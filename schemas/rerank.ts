/** Requests and responses of `POST /rerank`. */
import Type, { type Static } from 'typebox';
import { CountOf, ignoredFields, Titled } from './shapes.ts';

/** Documents of one request. */
export const maxDocuments = 1000;

const RerankDocument = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Object({ text: Type.String({ minLength: 1, description: 'What is compared with the query' }) }),
]);

const fields = {
  model: Type.String({ description: 'Id of a rerank model', examples: ['sluice/rerank'] }),
  query: Type.String({ minLength: 1, description: 'What the documents are compared with' }),
  top_n: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Only the best so many results; all by default' }),
  ),
  return_documents: Type.Optional(
    Type.Boolean({ description: 'False leaves the texts out of the results; true by default' }),
  ),
  max_tokens_per_doc: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Documents are cut to so many tokens' }),
  ),
  ...ignoredFields,
  provider: Type.Optional(Type.Unknown({ description: 'Accepted and ignored' })),
};

export const RerankRequest = Titled('RerankRequest', {
  ...fields,
  documents: Type.Array(RerankDocument, {
    minItems: 1,
    maxItems: maxDocuments,
    description: 'Texts, or objects with a `text`; those too long for the model are truncated',
  }),
});

/** As it is validated first: the reader checks the documents one by one. */
export const RerankFields = Type.Object({ ...fields, documents: Type.Array(Type.Unknown()) });
export type RerankFields = Static<typeof RerankFields>;

export const RerankResponse = Titled('RerankResponse', {
  id: Type.String({ pattern: '^rerank-', description: 'Id of the response' }),
  object: Type.Literal('list'),
  model: Type.String({ description: 'The model that answered' }),
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, description: 'Place of the document in the request' }),
      relevance_score: Type.Number({ description: 'As the model gives it; most give 0 to 1' }),
      document: Type.Optional(
        Type.Object({ text: Type.String() }, { description: 'Absent with `return_documents: false`' }),
      ),
    }),
    { description: 'The most relevant first' },
  ),
  usage: Type.Object({
    prompt_tokens: Type.Integer({
      minimum: 0,
      description: 'Tokens read: every document, and the query once for each. What is billed',
    }),
    total_tokens: CountOf('The same: nothing is generated'),
  }),
  meta: Type.Object({
    billed_units: Type.Object({ input_tokens: CountOf('The same as `usage.prompt_tokens`') }),
  }),
});
export type RerankResponse = Static<typeof RerankResponse>;
