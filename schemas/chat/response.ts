/** Responses and chunks of `POST /chat/completions`. */
import Type, { type Static } from 'typebox';
import { Attempts, Count, CountOf, Nullable, Titled, UnixSeconds } from '../shapes.ts';

const Bytes = Nullable(
  Type.Array(Type.Integer({ minimum: 0, maximum: 255 })),
  'Its UTF-8 bytes; null where the engine does not report them',
);

export const ChatUsage = Titled(
  'ChatUsage',
  {
    prompt_tokens: CountOf('Tokens of the prompt, those read from a cache included'),
    completion_tokens: CountOf('Tokens generated, thinking included'),
    total_tokens: CountOf('Both together'),
    prompt_tokens_details: Type.Object({
      cached_tokens: CountOf('Of the prompt: read from a cache of the engine'),
    }),
    completion_tokens_details: Type.Object({
      reasoning_tokens: CountOf('Of the completion: spent on thinking'),
    }),
  },
  'What was read and generated: the billed quantities',
);

const tokenFields = {
  token: Type.String({ description: 'Text of the token' }),
  logprob: Type.Number({ description: 'Natural logarithm of its probability' }),
  bytes: Bytes,
};

const Logprobs = Nullable(
  Type.Object({
    content: Nullable(
      Type.Array(
        Type.Object({
          ...tokenFields,
          top_logprobs: Type.Array(Type.Object(tokenFields), {
            description: 'The likeliest tokens in its place',
          }),
        }),
      ),
      'One entry for each token of the text',
    ),
  }),
  'Log probabilities, where `logprobs` asked for them',
);

const FinishReason = Type.Enum(['stop', 'length', 'tool_calls', 'content_filter', 'error'], {
  description:
    'Why it ended: by itself or at a stop text, at the limit of tokens, with calls of tools, by a filter, or by a failure',
});

const NativeFinishReason = Nullable(Type.String(), 'The same in the words of the engine');

const ToolCall = Type.Object({
  id: Type.String({ pattern: '^call_', description: 'Send it back as `tool_call_id` with the result' }),
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ description: 'The function to call' }),
    arguments: Type.String({ description: 'JSON, as the model wrote it: check it' }),
  }),
});

/** Fields that whole answers and chunks begin with. */
const head = {
  id: Type.String({ pattern: '^chatcmpl-', description: 'The same in every chunk of a stream' }),
  created: UnixSeconds(),
  model: Type.String({ description: 'The model that answered; a fallback if the one requested could not' }),
  provider: Type.String({ description: "The operator's name" }),
};

export const ChatCompletion = Titled('ChatCompletion', {
  ...head,
  object: Type.Literal('chat.completion'),
  system_fingerprint: Type.Null(),
  choices: Type.Array(
    Type.Object({
      index: CountOf('Number of the answer, from 0'),
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: Nullable(Type.String(), 'The text of the answer; null when there are only tool calls'),
        reasoning: Nullable(Type.String(), 'What the model thought; null when it did not, or was excluded'),
        refusal: Type.Null(),
        tool_calls: Type.Optional(
          Type.Array(ToolCall, { minItems: 1, description: 'Functions to call; absent when there are none' }),
        ),
      }),
      logprobs: Logprobs,
      finish_reason: FinishReason,
      native_finish_reason: NativeFinishReason,
    }),
    { description: 'As many as `n` asked for' },
  ),
  usage: ChatUsage,
});
export type ChatCompletion = Static<typeof ChatCompletion>;

const ToolCallDelta = Type.Object({
  index: CountOf('Number of the call, from 0; deltas of a call follow each other'),
  id: Type.Optional(Type.String({ pattern: '^call_', description: 'On the first delta of a call' })),
  type: Type.Optional(Type.Literal('function')),
  function: Type.Object({
    name: Type.Optional(Type.String({ description: 'On the first delta of a call' })),
    arguments: Type.String({ description: 'The next piece of the JSON' }),
  }),
});

/** Fields of an error inside a stream, as in the envelope. */
export const streamErrorFields = {
  code: Type.Integer({ description: 'The HTTP status it would have had before the first byte' }),
  message: Type.String({ description: 'Text for people' }),
  type: Type.String({ description: 'Type of the error, such as `server_error`' }),
  metadata: Type.Object({
    error_type: Type.String({ description: 'Typed code for branching' }),
    code: Type.Optional(Type.String({ description: 'More exact, such as `context_length_exceeded`' })),
  }),
};

export const ChatChunk = Titled('ChatChunk', {
  ...head,
  object: Type.Literal('chat.completion.chunk'),
  choices: Type.Array(
    Type.Object({
      index: Count,
      delta: Type.Object(
        {
          role: Type.Optional(Type.Literal('assistant')),
          content: Type.Optional(Type.String({ description: 'The next piece of the text' })),
          reasoning: Type.Optional(Type.String({ description: 'The next piece of the thinking' })),
          tool_calls: Type.Optional(Type.Array(ToolCallDelta, { minItems: 1 })),
        },
        { description: 'What is new; the first of each choice has the role' },
      ),
      finish_reason: Nullable(FinishReason, 'Null until the last chunk of the choice'),
      native_finish_reason: NativeFinishReason,
      logprobs: Type.Optional(Logprobs),
    }),
    { description: 'Empty in a chunk that has only usage' },
  ),
  usage: Type.Optional(ChatUsage),
  x_sluice_attempts: Type.Optional(Attempts),
  error: Type.Optional(
    Type.Object(
      {
        ...streamErrorFields,
        param: Nullable(Type.String(), 'The field at fault, if one is'),
      },
      { description: 'The stream failed: what came before is incomplete' },
    ),
  ),
});
export type ChatChunk = Static<typeof ChatChunk>;
