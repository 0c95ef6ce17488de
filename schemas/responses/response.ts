/** Responses of `POST /responses`. */
import Type, { type Static } from 'typebox';
import { JsonObject } from '../chat/content.ts';
import { CountOf, Metadata, Nullable, Titled, UnixSeconds } from '../shapes.ts';
import { TextFormat } from './request.ts';

const ItemStatus = Type.Enum(['in_progress', 'completed', 'incomplete'], {
  description: 'incomplete: cut off by the limit of tokens, a filter or a failure',
});
const TokenBytes = Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), { description: 'Its UTF-8 bytes' });

const tokenFields = {
  token: Type.String({ description: 'Text of the token' }),
  logprob: Type.Number({ description: 'Natural logarithm of its probability' }),
  bytes: TokenBytes,
};
const TokenLogprob = Titled('ResponseLogprob', {
  ...tokenFields,
  top_logprobs: Type.Array(Type.Object(tokenFields), { description: 'The likeliest tokens in its place' }),
});
export const TokenLogprobs = Type.Array(TokenLogprob, {
  description: 'Empty unless `include` asks for them',
});

const OutputText = Titled('ResponseOutputText', {
  type: Type.Literal('output_text'),
  text: Type.String({ description: 'What the model says' }),
  annotations: Type.Array(Type.Unknown(), { maxItems: 0, description: 'Always empty' }),
  logprobs: TokenLogprobs,
});
const ReasoningText = Titled('ResponseReasoningText', {
  type: Type.Literal('reasoning_text'),
  text: Type.String({ description: 'What the model thought' }),
});
export const OutputPart = Type.Union([OutputText, ReasoningText]);

const CallFields = {
  call_id: Type.String({ pattern: '^call_', description: 'Send it back with the output of the tool' }),
  name: Type.String({ description: 'The tool to call, as you named it' }),
  namespace: Type.Optional(Type.String({ description: 'Of tools in a namespace' })),
  status: ItemStatus,
};

export const OutputItem = Type.Union(
  [
    Type.Object({
      type: Type.Literal('message'),
      id: Type.String({ pattern: '^msg_' }),
      role: Type.Literal('assistant'),
      status: ItemStatus,
      content: Type.Array(OutputText, { maxItems: 1, description: 'Empty where a stream begins it' }),
    }),
    Type.Object({
      type: Type.Literal('reasoning'),
      id: Type.String({ pattern: '^rs_' }),
      status: ItemStatus,
      summary: Type.Array(Type.Unknown(), { maxItems: 0, description: 'Always empty' }),
      content: Type.Array(ReasoningText, { maxItems: 1, description: 'Empty where a stream begins it' }),
    }),
    Type.Object({
      type: Type.Literal('function_call'),
      id: Type.String({ pattern: '^fc_' }),
      ...CallFields,
      arguments: Type.String({ description: 'JSON, as the model wrote it: check it' }),
    }),
    Type.Object({
      type: Type.Literal('custom_tool_call'),
      id: Type.String({ pattern: '^ctc_' }),
      ...CallFields,
      input: Type.String({ description: 'The text that the model wrote' }),
    }),
  ],
  { title: 'ResponseOutputItem', description: 'A message, thinking, or the call of a tool' },
);
export type OutputItem = Static<typeof OutputItem>;

const ResponseUsage = Titled(
  'ResponseUsage',
  {
    input_tokens: CountOf('Tokens of the prompt, those read from a cache included'),
    input_tokens_details: Type.Object({
      cached_tokens: CountOf('Of the prompt: read from a cache of the engine'),
      cache_write_tokens: CountOf('Always 0: engines do not report it'),
    }),
    output_tokens: CountOf('Tokens generated, thinking included'),
    output_tokens_details: Type.Object({ reasoning_tokens: CountOf('Of these: spent on thinking') }),
    total_tokens: CountOf('Both together'),
  },
  'What was read and generated: the billed quantities',
);

export const Response = Titled('Response', {
  id: Type.String({ pattern: '^resp_', description: 'Id of the response' }),
  object: Type.Literal('response'),
  created_at: UnixSeconds(),
  status: Type.Enum(['in_progress', 'completed', 'incomplete', 'failed', 'cancelled'], {
    description: 'incomplete: cut off, `incomplete_details` says by what',
  }),
  completed_at: Nullable(Type.Integer(), 'Unix seconds; null unless completed'),
  error: Nullable(
    Type.Object({
      code: Type.Enum(['server_error', 'rate_limit_exceeded', 'invalid_prompt']),
      message: Type.String({ description: 'Text for people' }),
    }),
    'Why it failed',
  ),
  incomplete_details: Nullable(
    Type.Object({ reason: Type.Enum(['max_output_tokens', 'content_filter']) }),
    'What cut it off',
  ),
  output: Type.Array(OutputItem, { description: 'Thinking, messages and calls of tools, in their order' }),
  usage: Nullable(ResponseUsage, 'Null until it has ended'),
  model: Type.String({ description: 'The model that answered' }),
  instructions: Nullable(Type.String(), 'As requested'),
  metadata: Metadata,
  tools: Type.Array(
    Type.Union([
      Type.Object({
        type: Type.Literal('function'),
        name: Type.String(),
        description: Nullable(Type.String()),
        parameters: Nullable(JsonObject),
        strict: Nullable(Type.Boolean()),
      }),
      JsonObject,
    ]),
    { description: 'As requested, those that do not run here included' },
  ),
  tool_choice: Type.Union([Type.Enum(['none', 'auto', 'required']), JsonObject], {
    description: 'As requested',
  }),
  parallel_tool_calls: Type.Boolean({ description: 'As requested' }),
  max_tool_calls: Type.Null(),
  text: Type.Object({ format: TextFormat }),
  reasoning: Type.Object({
    effort: Nullable(Type.String(), 'As requested'),
    summary: Nullable(Type.String(), 'As requested; without effect'),
  }),
  max_output_tokens: Nullable(Type.Integer(), 'As requested'),
  temperature: Nullable(Type.Number(), 'As requested'),
  top_p: Nullable(Type.Number(), 'As requested'),
  presence_penalty: Nullable(Type.Number(), 'As requested'),
  frequency_penalty: Nullable(Type.Number(), 'As requested'),
  top_logprobs: CountOf('As requested'),
  user: Nullable(Type.String(), 'As requested'),
  prompt_cache_key: Nullable(Type.String(), 'As requested'),
  safety_identifier: Nullable(Type.String(), 'As requested'),
  previous_response_id: Type.Null(),
  service_tier: Type.Literal('default'),
  truncation: Type.Literal('disabled'),
  background: Type.Boolean({ description: 'Whether it goes on without its client' }),
  store: Type.Literal(false),
});
export type Response = Static<typeof Response>;

export const ResponseDeleted = Titled('ResponseDeleted', {
  id: Type.String({ pattern: '^resp_', description: 'What was deleted' }),
  object: Type.Literal('response'),
  deleted: Type.Literal(true),
});
export type ResponseDeleted = Static<typeof ResponseDeleted>;
