/** Requests and responses of `POST /embeddings`. */
import Type, { type Static } from 'typebox';
import { CountOf, ignoredFields, Titled } from './shapes.ts';

/** Inputs of one request. */
export const maxInputs = 2048;

const TokenId = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });

const Input = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: maxInputs }),
    Type.Array(TokenId, { minItems: 1 }),
    Type.Array(Type.Array(TokenId, { minItems: 1 }), { minItems: 1, maxItems: maxInputs }),
  ],
  {
    description: `One text or up to ${maxInputs}, or their token ids; a text that is too long for the model is truncated`,
  },
);

const fields = {
  model: Type.String({ description: 'Id of an embedding model', examples: ['sluice/embed'] }),
  encoding_format: Type.Optional(
    Type.Enum(['float', 'base64'], {
      description: 'base64: the numbers as little-endian float32 values; float by default',
    }),
  ),
  dimensions: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Fewer numbers, on models trained for it' }),
  ),
  input_type: Type.Optional(
    Type.String({
      description:
        'search_query or query puts the query instruction of models that have one before each text; any other value changes nothing',
    }),
  ),
  ...ignoredFields,
  provider: Type.Optional(Type.Unknown({ description: 'Accepted and ignored' })),
};

export const EmbeddingsRequest = Titled('EmbeddingsRequest', { ...fields, input: Input });

/** As it is validated first: the reader checks which of its four forms `input` has, item by item. */
export const EmbeddingsFields = Type.Object({ ...fields, input: Type.Unknown() });
export type EmbeddingsFields = Static<typeof EmbeddingsFields>;

export const EmbeddingsResponse = Titled('EmbeddingsResponse', {
  id: Type.String({ pattern: '^emb-', description: 'Id of the response' }),
  object: Type.Literal('list'),
  data: Type.Array(
    Type.Object({
      object: Type.Literal('embedding'),
      index: Type.Integer({ minimum: 0, description: 'Place of the input' }),
      embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
        description: 'The vector: numbers, or base64 of little-endian float32 values',
      }),
    }),
    { description: 'One for each input, in input order' },
  ),
  model: Type.String({ description: 'The model that answered' }),
  usage: Type.Object({
    prompt_tokens: Type.Integer({
      minimum: 0,
      description: 'Tokens read, the query instruction included: what is billed',
    }),
    total_tokens: CountOf('The same: nothing is generated'),
  }),
});
