/** Requests and responses of `POST /tokenize` and `POST /detokenize`, as vLLM has them. */
import Type, { type Static } from 'typebox';
import { ChatRequest } from './chat/request.ts';
import { CountOf, Described, ignoredFields, Nullable, Titled } from './shapes.ts';

const { messages, tools } = ChatRequest.properties;

const model = Type.String({
  description: 'A model that reads tokens, on an engine that offers its tokenizer',
  examples: ['sluice/chat'],
});

export const TokenizeRequest = Titled('TokenizeRequest', {
  model,
  prompt: Type.Optional(Type.String({ description: 'A text; or else `messages`' })),
  messages: Type.Optional(
    Described(messages, 'A conversation, tokenized with the chat template of the model; or else `prompt`'),
  ),
  tools,
  add_special_tokens: Type.Optional(
    Type.Boolean({
      description: 'With tokens such as the one that begins a text; by default as the engine does',
    }),
  ),
  add_generation_prompt: Type.Optional(
    Type.Boolean({ description: 'With what the chat template puts before the response; true by default' }),
  ),
  return_token_strs: Type.Optional(Type.Boolean({ description: 'The text of each token too' })),
  ...ignoredFields,
});
export type TokenizeRequest = Static<typeof TokenizeRequest>;

const Token = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });

export const TokenizeResponse = Titled('TokenizeResponse', {
  count: CountOf('Number of tokens'),
  max_model_len: Nullable(Type.Integer({ minimum: 1 }), 'Tokens that the model reads; null where unknown'),
  tokens: Type.Array(Token, { description: 'Ids of the tokens' }),
  token_strs: Nullable(Type.Array(Type.String()), 'Texts of the tokens; null unless requested'),
});
export type TokenizeResponse = Static<typeof TokenizeResponse>;

const detokenizeFields = { model, ...ignoredFields };

export const DetokenizeRequest = Titled('DetokenizeRequest', {
  ...detokenizeFields,
  tokens: Type.Array(Token, { description: 'Ids of the tokens, as `POST /tokenize` returns them' }),
});

/** As it is validated first: the reader checks the tokens. */
export const DetokenizeFields = Type.Object({ ...detokenizeFields, tokens: Type.Array(Type.Unknown()) });
export type DetokenizeFields = Static<typeof DetokenizeFields>;

export const DetokenizeResponse = Titled('DetokenizeResponse', {
  prompt: Type.String({ description: 'The text' }),
});
