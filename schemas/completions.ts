/** Requests and responses of `POST /completions`. Unknown fields are forwarded, refused or ignored; null means absent. */
import Type, { type Static } from 'typebox';
import { ChatUsage, LogitBias, StreamOptions } from './chat.ts';
import { Attempts, Count, Nullable, Titled } from './shapes.ts';

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
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  stream: Type.Optional(Type.Boolean()),
  stream_options: Type.Optional(StreamOptions),
  max_tokens: Type.Optional(Type.Integer({ minimum: 0, description: '16 by default' })),
  n: Type.Optional(Type.Integer({ minimum: 1, maximum: maxChoices })),
  best_of: Type.Optional(Type.Integer({ minimum: 1, description: 'The same as n' })),
  echo: Type.Optional(Type.Boolean({ description: 'Each text begins with its prompt' })),
  logprobs: Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })),
  stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
  seed: Type.Optional(Type.Integer({ minimum: -(2 ** 63), maximum: 2 ** 63 })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
  repetition_penalty: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  logit_bias: Type.Optional(LogitBias),
  user: Type.Optional(Type.String()),
};

export const CompletionRequest = Titled('CompletionRequest', { ...fields, prompt: Prompt });

/** As it is validated first: the reader checks which of its four forms `prompt` has, item by item. */
export const CompletionFields = Type.Object({ ...fields, prompt: Type.Unknown() });
export type CompletionFields = Static<typeof CompletionFields>;

const Logprobs = Nullable(
  Type.Object({
    tokens: Type.Array(Type.String()),
    token_logprobs: Type.Array(Nullable(Type.Number())),
    top_logprobs: Type.Array(Nullable(Type.Record(Type.String(), Type.Number()))),
    text_offset: Type.Array(Count),
  }),
);

const FinishReason = Type.Enum(['stop', 'length', 'content_filter', 'error']);

const head = {
  id: Type.String({ pattern: '^cmpl-' }),
  object: Type.Literal('text_completion'),
  created: Type.Integer(),
  model: Type.String(),
  provider: Type.String(),
};

export const TextCompletion = Titled('TextCompletion', {
  ...head,
  choices: Type.Array(
    Type.Object({ text: Type.String(), index: Count, logprobs: Logprobs, finish_reason: FinishReason }),
  ),
  usage: ChatUsage,
});
export type TextCompletion = Static<typeof TextCompletion>;

export const TextCompletionChunk = Titled('TextCompletionChunk', {
  ...head,
  choices: Type.Array(
    Type.Object({
      text: Type.String(),
      index: Count,
      logprobs: Logprobs,
      finish_reason: Nullable(FinishReason),
    }),
  ),
  usage: Type.Optional(ChatUsage),
  x_sluice_attempts: Type.Optional(Attempts),
  error: Type.Optional(
    Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      type: Type.String(),
      param: Type.Null(),
      metadata: Type.Object({ error_type: Type.String(), code: Type.Optional(Type.String()) }),
    }),
  ),
});
export type TextCompletionChunk = Static<typeof TextCompletionChunk>;
