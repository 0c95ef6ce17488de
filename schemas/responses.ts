/** Requests, responses and events of `POST /responses`. Unknown fields are forwarded, refused or ignored; null means absent. */
import Type, { type Static } from 'typebox';
import { FunctionName, JsonObject, Reasoning } from './chat.ts';
import { InputItem, ToolChoice, Tools } from './responses-input.ts';
import { Attempts, Count, Metadata, Nullable, Titled } from './shapes.ts';

// ── request ────────────────────────────────────────────────────────────────────────────────────────

const TextFormat = Type.Object({
  type: Type.Enum(['text', 'json_object', 'json_schema']),
  name: Type.Optional(FunctionName),
  description: Type.Optional(Type.String()),
  schema: Type.Optional(JsonObject),
  strict: Type.Optional(Type.Boolean()),
});

export const ResponsesRequest = Titled('ResponsesRequest', {
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  input: Type.Union([Type.String(), Type.Array(InputItem, { minItems: 1, maxItems: 16_384 })]),
  instructions: Type.Optional(Type.String()),
  stream: Type.Optional(Type.Boolean()),
  max_output_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
  frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  repetition_penalty: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  seed: Type.Optional(Type.Integer({ minimum: -(2 ** 63), maximum: 2 ** 63 })),
  top_logprobs: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
  include: Type.Optional(Type.Array(Type.String(), { maxItems: 64 })),
  tools: Type.Optional(Tools),
  tool_choice: Type.Optional(ToolChoice),
  parallel_tool_calls: Type.Optional(Type.Boolean()),
  reasoning: Type.Optional(Reasoning),
  text: Type.Optional(Type.Object({ format: Type.Optional(TextFormat) })),
  metadata: Type.Optional(Metadata),
  user: Type.Optional(Type.String()),
  prompt_cache_key: Type.Optional(Type.String()),
  safety_identifier: Type.Optional(Type.String()),
  /** Rejected by the reader: nothing is stored. */
  previous_response_id: Type.Optional(Type.Unknown()),
  conversation: Type.Optional(Type.Unknown()),
  prompt: Type.Optional(Type.Unknown()),
  background: Type.Optional(
    Type.Boolean({
      description: 'It goes on without its client, and can be read for a while: GET /responses/{id}',
    }),
  ),
});
export type ResponsesRequest = Static<typeof ResponsesRequest>;

// ── response ─────────────────────────────────────────────────────────────────────────────────────────

const ItemStatus = Type.Enum(['in_progress', 'completed', 'incomplete']);
const TokenBytes = Type.Array(Type.Integer({ minimum: 0, maximum: 255 }));

const TokenLogprob = Titled('ResponseLogprob', {
  token: Type.String(),
  logprob: Type.Number(),
  bytes: TokenBytes,
  top_logprobs: Type.Array(Type.Object({ token: Type.String(), logprob: Type.Number(), bytes: TokenBytes })),
});

const OutputText = Titled('ResponseOutputText', {
  type: Type.Literal('output_text'),
  text: Type.String(),
  annotations: Type.Array(Type.Unknown(), { maxItems: 0 }),
  logprobs: Type.Array(TokenLogprob),
});
const ReasoningText = Titled('ResponseReasoningText', {
  type: Type.Literal('reasoning_text'),
  text: Type.String(),
});
const OutputPart = Type.Union([OutputText, ReasoningText]);

const CallFields = {
  call_id: Type.String({ pattern: '^call_' }),
  name: Type.String(),
  /** Of tools in a namespace. */
  namespace: Type.Optional(Type.String()),
  status: ItemStatus,
};

export const OutputItem = Type.Union(
  [
    Type.Object({
      type: Type.Literal('message'),
      id: Type.String({ pattern: '^msg_' }),
      role: Type.Literal('assistant'),
      status: ItemStatus,
      content: Type.Array(OutputText, { maxItems: 1 }),
    }),
    Type.Object({
      type: Type.Literal('reasoning'),
      id: Type.String({ pattern: '^rs_' }),
      status: ItemStatus,
      summary: Type.Array(Type.Unknown(), { maxItems: 0 }),
      content: Type.Array(ReasoningText, { maxItems: 1 }),
    }),
    Type.Object({
      type: Type.Literal('function_call'),
      id: Type.String({ pattern: '^fc_' }),
      ...CallFields,
      arguments: Type.String(),
    }),
    Type.Object({
      type: Type.Literal('custom_tool_call'),
      id: Type.String({ pattern: '^ctc_' }),
      ...CallFields,
      input: Type.String(),
    }),
  ],
  { title: 'ResponseOutputItem' },
);
export type OutputItem = Static<typeof OutputItem>;

const ResponseUsage = Titled('ResponseUsage', {
  input_tokens: Count,
  input_tokens_details: Type.Object({ cached_tokens: Count, cache_write_tokens: Count }),
  output_tokens: Count,
  output_tokens_details: Type.Object({ reasoning_tokens: Count }),
  total_tokens: Count,
});

export const Response = Titled('Response', {
  id: Type.String({ pattern: '^resp_' }),
  object: Type.Literal('response'),
  created_at: Type.Integer(),
  status: Type.Enum(['in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  completed_at: Nullable(Type.Integer()),
  error: Nullable(
    Type.Object({
      code: Type.Enum(['server_error', 'rate_limit_exceeded', 'invalid_prompt']),
      message: Type.String(),
    }),
  ),
  incomplete_details: Nullable(Type.Object({ reason: Type.Enum(['max_output_tokens', 'content_filter']) })),
  output: Type.Array(OutputItem),
  usage: Nullable(ResponseUsage),
  model: Type.String(),
  instructions: Nullable(Type.String()),
  metadata: Metadata,
  /** As requested, those that do not run here included. */
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
  ),
  tool_choice: Type.Union([Type.Enum(['none', 'auto', 'required']), JsonObject]),
  parallel_tool_calls: Type.Boolean(),
  max_tool_calls: Type.Null(),
  text: Type.Object({ format: TextFormat }),
  reasoning: Type.Object({ effort: Nullable(Type.String()), summary: Nullable(Type.String()) }),
  max_output_tokens: Nullable(Type.Integer()),
  temperature: Nullable(Type.Number()),
  top_p: Nullable(Type.Number()),
  presence_penalty: Nullable(Type.Number()),
  frequency_penalty: Nullable(Type.Number()),
  top_logprobs: Count,
  user: Nullable(Type.String()),
  prompt_cache_key: Nullable(Type.String()),
  safety_identifier: Nullable(Type.String()),
  previous_response_id: Type.Null(),
  service_tier: Type.Literal('default'),
  truncation: Type.Literal('disabled'),
  background: Type.Boolean(),
  store: Type.Literal(false),
});
export type Response = Static<typeof Response>;

// ── events ─────────────────────────────────────────────────────────────────────────────────────────

const eventOf = <Name extends string, Fields extends Type.TProperties>(type: Name, fields: Fields) =>
  Type.Object({ type: Type.Literal(type), sequence_number: Count, ...fields });

const ofItem = { item_id: Type.String(), output_index: Count };
const ofPart = { ...ofItem, content_index: Type.Literal(0) };
const Delta = Type.String({ minLength: 1 });

export const ResponseEvent = Type.Union(
  [
    eventOf('response.created', { response: Response }),
    eventOf('response.in_progress', { response: Response }),
    eventOf('response.output_item.added', { output_index: Count, item: OutputItem }),
    eventOf('response.content_part.added', { ...ofPart, part: OutputPart }),
    eventOf('response.output_text.delta', { ...ofPart, delta: Delta, logprobs: Type.Array(TokenLogprob) }),
    eventOf('response.output_text.done', {
      ...ofPart,
      text: Type.String(),
      logprobs: Type.Array(TokenLogprob),
    }),
    eventOf('response.reasoning_text.delta', { ...ofPart, delta: Delta }),
    eventOf('response.reasoning_text.done', { ...ofPart, text: Type.String() }),
    eventOf('response.content_part.done', { ...ofPart, part: OutputPart }),
    eventOf('response.function_call_arguments.delta', { ...ofItem, delta: Delta }),
    eventOf('response.function_call_arguments.done', {
      ...ofItem,
      name: Type.String(),
      namespace: Type.Optional(Type.String()),
      arguments: Type.String(),
    }),
    eventOf('response.custom_tool_call_input.delta', { ...ofItem, delta: Delta }),
    eventOf('response.custom_tool_call_input.done', { ...ofItem, input: Type.String() }),
    eventOf('response.output_item.done', { output_index: Count, item: OutputItem }),
    eventOf('response.completed', { response: Response, x_sluice_attempts: Type.Optional(Attempts) }),
    eventOf('response.incomplete', { response: Response, x_sluice_attempts: Type.Optional(Attempts) }),
    eventOf('error', {
      code: Type.String(),
      message: Type.String(),
      param: Type.Union([Type.String(), Type.Null()]),
    }),
    eventOf('response.failed', { response: Response }),
  ],
  { title: 'ResponseEvent' },
);
export type ResponseEvent = Static<typeof ResponseEvent>;

export const ResponseDeleted = Titled('ResponseDeleted', {
  id: Type.String({ pattern: '^resp_' }),
  object: Type.Literal('response'),
  deleted: Type.Literal(true),
});
export type ResponseDeleted = Static<typeof ResponseDeleted>;
