/** Requests and responses of `POST /messages` and `/messages/count_tokens`. Unknown fields are forwarded, refused or ignored; null means absent. */
import Type, { type Static } from 'typebox';
import { Blocks, InputBlock, JsonObject, TextBlock as SystemBlock, ToolName } from './message-blocks.ts';
import { Attempts, Count, Nullable, Titled } from './shapes.ts';

// ── request ────────────────────────────────────────────────────────────────────────────────────────

export const InputMessage = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system']),
  content: Blocks(InputBlock),
  clear_at: Type.Optional(Type.Enum(['never'])),
  /** Refused by the reader: only the request as a whole has one. */
  output_config: Type.Optional(Type.Unknown()),
});
export type InputMessage = Static<typeof InputMessage>;

const Thinking = Type.Object({
  type: Type.Enum(['enabled', 'adaptive', 'disabled']),
  budget_tokens: Type.Optional(Type.Integer({ minimum: 1024 })),
  /** Claude Code asks for `updates`, which is what a stream gives anyway. */
  display: Type.Optional(Type.Enum(['summarized', 'omitted', 'updates'])),
});

const OutputFormat = Type.Object({ type: Type.Enum(['json_schema']), schema: JsonObject });

const OutputConfig = Type.Object({
  effort: Type.Optional(Type.Enum(['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'])),
  format: Type.Optional(OutputFormat),
});

const Tool = Type.Object({
  name: ToolName,
  description: Type.Optional(Type.String()),
  input_schema: JsonObject,
  strict: Type.Optional(Type.Boolean()),
  /** Added to the description: engines have no field for them. */
  input_examples: Type.Optional(Type.Array(JsonObject, { maxItems: 64 })),
});

const ToolChoice = Type.Object({
  type: Type.Enum(['auto', 'any', 'tool', 'none']),
  name: Type.Optional(Type.String({ minLength: 1 })),
  disable_parallel_tool_use: Type.Optional(Type.Boolean()),
});

/** Fields of both routes: the prompt and the form of its response. */
const promptFields = {
  model: Type.String({ minLength: 1, maxLength: 512 }),
  messages: Type.Array(InputMessage, { minItems: 1, maxItems: 16_384 }),
  system: Type.Optional(Blocks(SystemBlock)),
  thinking: Type.Optional(Thinking),
  output_config: Type.Optional(OutputConfig),
  /** Older name of `output_config.format`. */
  output_format: Type.Optional(OutputFormat),
  tools: Type.Optional(Type.Array(Tool, { maxItems: 1024 })),
  tool_choice: Type.Optional(ToolChoice),
};

export const MessagesRequest = Titled('MessagesRequest', {
  ...promptFields,
  max_tokens: Type.Integer({ minimum: 0 }),
  stream: Type.Optional(Type.Boolean()),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
  stop_sequences: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 8192 })),
  metadata: Type.Optional(Type.Object({ user_id: Type.Optional(Type.String()) })),
});
export type MessagesRequest = Static<typeof MessagesRequest>;

export const CountTokensRequest = Titled('CountTokensRequest', promptFields);
export type CountTokensRequest = Static<typeof CountTokensRequest>;

// ── response ─────────────────────────────────────────────────────────────────────────────────────────

export const TokenCount = Titled('TokenCount', { input_tokens: Count });

const TextBlock = Type.Object({
  type: Type.Literal('text'),
  text: Type.String(),
  /** Absent from whole messages: a widely used client rejects null there. */
  citations: Type.Optional(Type.Null()),
});
const ThinkingBlock = Type.Object({
  type: Type.Literal('thinking'),
  thinking: Type.String(),
  signature: Type.String(),
});
const ToolUseBlock = Type.Object({
  type: Type.Literal('tool_use'),
  id: Type.String({ pattern: '^toolu_' }),
  name: Type.String(),
  input: JsonObject,
});
const OutputBlock = Type.Union([TextBlock, ThinkingBlock, ToolUseBlock]);
export type OutputBlock = Static<typeof OutputBlock>;

const StopReason = Type.Enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal']);

const countFields = {
  input_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_read_input_tokens: Count,
  output_tokens: Count,
  output_tokens_details: Type.Object({ thinking_tokens: Count }),
  server_tool_use: Type.Null(),
};

const MessageUsage = Titled('MessageUsage', {
  ...countFields,
  cache_creation: Type.Null(),
  service_tier: Type.Literal('standard'),
  inference_geo: Type.Null(),
  speed: Type.Null(),
});

export const Message = Titled('Message', {
  id: Type.String({ pattern: '^msg_' }),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String(),
  content: Type.Array(OutputBlock),
  stop_reason: Nullable(StopReason),
  stop_sequence: Nullable(Type.String()),
  stop_details: Type.Null(),
  container: Type.Null(),
  diagnostics: Type.Null(),
  usage: MessageUsage,
});
export type Message = Static<typeof Message>;

const Delta = Type.Union([
  Type.Object({ type: Type.Literal('text_delta'), text: Type.String({ minLength: 1 }) }),
  Type.Object({ type: Type.Literal('thinking_delta'), thinking: Type.String({ minLength: 1 }) }),
  Type.Object({ type: Type.Literal('signature_delta'), signature: Type.String({ minLength: 1 }) }),
  Type.Object({ type: Type.Literal('input_json_delta'), partial_json: Type.String({ minLength: 1 }) }),
]);

export const MessageEvent = Type.Union(
  [
    Type.Object({ type: Type.Literal('message_start'), message: Message }),
    Type.Object({ type: Type.Literal('ping') }),
    Type.Object({ type: Type.Literal('content_block_start'), index: Count, content_block: OutputBlock }),
    Type.Object({ type: Type.Literal('content_block_delta'), index: Count, delta: Delta }),
    Type.Object({ type: Type.Literal('content_block_stop'), index: Count }),
    Type.Object({
      type: Type.Literal('message_delta'),
      delta: Type.Object({
        stop_reason: StopReason,
        stop_sequence: Nullable(Type.String()),
        stop_details: Type.Null(),
        container: Type.Null(),
      }),
      usage: Type.Object(countFields),
      x_sluice_attempts: Type.Optional(Attempts),
    }),
    Type.Object({ type: Type.Literal('message_stop') }),
    Type.Object({
      type: Type.Literal('error'),
      error: Type.Object({ type: Type.Literal('api_error'), message: Type.String() }),
    }),
  ],
  { title: 'MessageEvent' },
);
export type MessageEvent = Static<typeof MessageEvent>;
