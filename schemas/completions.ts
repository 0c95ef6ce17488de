/** Requests and responses of `POST /completions`. Unknown fields are forwarded, refused or ignored; null means absent. */
import Type, { type Static } from 'typebox';
import { EndUser, LogitBias, ModelName, Stop, StreamOptions, sampling } from './chat/fields.ts';
import { ChatUsage, streamErrorFields } from './chat/response.ts';
import { Attempts, Count, CountOf, Nullable, Titled, UnixSeconds } from './shapes.ts';

/** Choices of one request: prompts times `n`. */
export const maxChoices = 128;

const TokenId = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });

const Prompt = Type.Union(
  [
    Type.String(),
    Type.Array(Type.String(), { minItems: 1, maxItems: maxChoices }),
    Type.Array(TokenId, { minItems: 1 }),
    Type.Array(Type.Array(TokenId, { minItems: 1 }), { minItems: 1, maxItems: maxChoices }),
  ],
  { description: 'One text or several, or their token ids where the engine takes them' },
);

const fields = {
  model: Type.Optional(ModelName('Id of a chat model; the default model when absent')),
  stream: Type.Optional(
    Type.Boolean({ description: 'Sends chunks as they are generated, as server-sent events' }),
  ),
  stream_options: Type.Optional(StreamOptions),
  max_tokens: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Tokens that each completion may have; 16 by default' }),
  ),
  n: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxChoices,
      description: `Completions of each prompt; 1 by default, at most ${maxChoices} in all`,
    }),
  ),
  best_of: Type.Optional(Type.Integer({ minimum: 1, description: 'Must be the same as `n`' })),
  echo: Type.Optional(Type.Boolean({ description: 'Each text begins with its prompt' })),
  logprobs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 5,
      description: 'Returns log probabilities, with so many alternatives to each token',
    }),
  ),
  stop: Stop,
  ...sampling,
  logit_bias: Type.Optional(LogitBias),
  user: EndUser,
};

export const CompletionRequest = Titled('CompletionRequest', { ...fields, prompt: Prompt });

/** As it is validated first: the reader checks which of its four forms `prompt` has, item by item. */
export const CompletionFields = Type.Object({ ...fields, prompt: Type.Unknown() });
export type CompletionFields = Static<typeof CompletionFields>;

const Logprobs = Nullable(
  Type.Object({
    tokens: Type.Array(Type.String(), { description: 'Texts of the tokens' }),
    token_logprobs: Type.Array(Nullable(Type.Number()), {
      description: 'Natural logarithms of their probabilities; null for the first token of a prompt',
    }),
    top_logprobs: Type.Array(Nullable(Type.Record(Type.String(), Type.Number())), {
      description: 'The likeliest tokens in the place of each',
    }),
    text_offset: Type.Array(Count, { description: 'Where each token begins in the text' }),
  }),
  'One entry of each list for each token; null unless requested',
);

const FinishReason = Type.Enum(['stop', 'length', 'content_filter', 'error'], {
  description: 'Why it ended: by itself or at a stop text, at the limit of tokens, by a filter or a failure',
});

const head = {
  id: Type.String({ pattern: '^cmpl-', description: 'The same in every chunk of a stream' }),
  object: Type.Literal('text_completion'),
  created: UnixSeconds(),
  model: Type.String({ description: 'The model that answered' }),
  provider: Type.String({ description: "The operator's name" }),
};

const choiceFields = {
  text: Type.String({ description: 'The completion; in a stream, its next piece' }),
  index: CountOf('Choices are numbered through: those of the first prompt come first'),
  logprobs: Logprobs,
};

export const TextCompletion = Titled('TextCompletion', {
  ...head,
  choices: Type.Array(Type.Object({ ...choiceFields, finish_reason: FinishReason })),
  usage: ChatUsage,
});
export type TextCompletion = Static<typeof TextCompletion>;

export const TextCompletionChunk = Titled('TextCompletionChunk', {
  ...head,
  choices: Type.Array(
    Type.Object({
      ...choiceFields,
      finish_reason: Nullable(FinishReason, 'Null until the last chunk of the choice'),
    }),
  ),
  usage: Type.Optional(ChatUsage),
  x_sluice_attempts: Type.Optional(Attempts),
  error: Type.Optional(
    Type.Object(
      { ...streamErrorFields, param: Type.Null() },
      { description: 'The stream failed: what came before is incomplete' },
    ),
  ),
});
export type TextCompletionChunk = Static<typeof TextCompletionChunk>;
