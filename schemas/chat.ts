/** Requests and responses of `POST /chat/completions`. Unknown fields are forwarded, refused or ignored; null means absent. */
import Type, { type Static } from 'typebox';
import { Effort } from './catalog.ts';
import { Attempts, Count, Nullable, Titled } from './shapes.ts';

export const JsonObject = Type.Record(Type.String(), Type.Unknown());
export const FunctionName = Type.String({
  pattern: '^[a-zA-Z0-9_-]{1,64}$',
  expected: '1 to 64 letters, digits, underscores and dashes',
});

// ── request ────────────────────────────────────────────────────────────────────────────────────────

/** A string to the client; the parser returns long base64 as bytes, so the reader checks it. */
export const MediaText = (description: string) => Type.Unknown({ description: `string: ${description}` });

export const ImageDetail = Type.Enum(['auto', 'low', 'high', 'original']);

export const InputAudio = Type.Object({
  data: MediaText('base64'),
  format: Type.Enum(['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac', 'aiff']),
});

/** One object for every kind of part, so that an error names the field and not a list of alternatives. */
export const ContentPart = Type.Object({
  type: Type.Enum(['text', 'image_url', 'input_audio', 'video_url', 'file', 'refusal']),
  text: Type.Optional(Type.String()),
  image_url: Type.Optional(
    Type.Object({
      url: MediaText('https URL or base64 data URI'),
      detail: Type.Optional(ImageDetail),
    }),
  ),
  input_audio: Type.Optional(InputAudio),
  video_url: Type.Optional(Type.Object({ url: MediaText('https URL or base64 data URI') })),
  file: Type.Optional(
    Type.Object({
      filename: Type.Optional(Type.String({ maxLength: 255 })),
      file_data: Type.Optional(MediaText('base64 data URI or https URL')),
      file_id: Type.Optional(Type.String()),
    }),
  ),
  refusal: Type.Optional(Type.String()),
});
export type ContentPart = Static<typeof ContentPart>;

const RequestToolCall = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.Optional(Type.Enum(['function'])),
  function: Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.String() }),
});

export const ChatRequestMessage = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Type.Optional(Type.Union([Type.String(), Type.Array(ContentPart, { maxItems: 4096 })])),
  name: Type.Optional(Type.String()),
  /** On assistant messages. */
  tool_calls: Type.Optional(Type.Array(RequestToolCall, { maxItems: 1024 })),
  /** On tool messages. */
  tool_call_id: Type.Optional(Type.String({ minLength: 1 })),
  /** What clients replay of an earlier response; not forwarded. */
  refusal: Type.Optional(Type.Unknown()),
  reasoning: Type.Optional(Type.Unknown()),
  reasoning_content: Type.Optional(Type.Unknown()),
  reasoning_details: Type.Optional(Type.Unknown()),
});
export type ChatRequestMessage = Static<typeof ChatRequestMessage>;

const ChatTool = Type.Object({
  type: Type.Enum(['function']),
  function: Type.Object({
    name: FunctionName,
    description: Type.Optional(Type.String()),
    parameters: Type.Optional(JsonObject),
    strict: Type.Optional(Type.Boolean()),
  }),
});

const ChatToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  Type.Object({
    type: Type.Enum(['function']),
    function: Type.Object({ name: Type.String({ minLength: 1 }) }),
  }),
]);

const ResponseFormat = Type.Object({
  type: Type.Enum(['text', 'json_object', 'json_schema']),
  json_schema: Type.Optional(
    Type.Object({
      name: FunctionName,
      description: Type.Optional(Type.String()),
      schema: Type.Optional(JsonObject),
      strict: Type.Optional(Type.Boolean()),
    }),
  ),
});

export const Reasoning = Type.Object({
  effort: Type.Optional(Effort),
  enabled: Type.Optional(Type.Boolean()),
  summary: Type.Optional(Type.Enum(['auto', 'concise', 'detailed'])),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  exclude: Type.Optional(Type.Boolean()),
});

export const LogitBias = Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 }), {
  maxProperties: 2048,
});

export const StreamOptions = Type.Object({
  include_usage: Type.Optional(Type.Boolean()),
  resumable: Type.Optional(
    Type.Boolean({ description: 'The stream goes on when the connection is lost: GET /streams/{id}' }),
  ),
});

export const ChatRequest = Titled('ChatRequest', {
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  messages: Type.Array(ChatRequestMessage, { minItems: 1, maxItems: 16_384 }),
  continue_final_message: Type.Optional(Type.Boolean()),
  stream: Type.Optional(Type.Boolean()),
  stream_options: Type.Optional(StreamOptions),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  max_completion_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  reasoning_effort: Type.Optional(Effort),
  reasoning: Type.Optional(Reasoning),
  include_reasoning: Type.Optional(Type.Boolean()),
  n: Type.Optional(Type.Integer({ minimum: 1, maximum: 128 })),
  seed: Type.Optional(Type.Integer({ minimum: -(2 ** 63), maximum: 2 ** 63 })),
  top_k: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
  repetition_penalty: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  response_format: Type.Optional(ResponseFormat),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  logit_bias: Type.Optional(LogitBias),
  stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
  logprobs: Type.Optional(Type.Boolean()),
  top_logprobs: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
  tool_choice: Type.Optional(ChatToolChoice),
  tools: Type.Optional(Type.Array(ChatTool, { maxItems: 1024 })),
  parallel_tool_calls: Type.Optional(Type.Boolean()),
  user: Type.Optional(Type.String()),
});
export type ChatRequest = Static<typeof ChatRequest>;

// ── response ─────────────────────────────────────────────────────────────────────────────────────────

const Bytes = Nullable(Type.Array(Type.Integer({ minimum: 0, maximum: 255 })));

export const ChatUsage = Titled('ChatUsage', {
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: Type.Object({ cached_tokens: Count }),
  completion_tokens_details: Type.Object({ reasoning_tokens: Count }),
});

const Logprobs = Nullable(
  Type.Object({
    content: Nullable(
      Type.Array(
        Type.Object({
          token: Type.String(),
          logprob: Type.Number(),
          bytes: Bytes,
          top_logprobs: Type.Array(
            Type.Object({ token: Type.String(), logprob: Type.Number(), bytes: Bytes }),
          ),
        }),
      ),
    ),
  }),
);

const FinishReason = Type.Enum(['stop', 'length', 'tool_calls', 'content_filter', 'error']);

const ToolCall = Type.Object({
  id: Type.String({ pattern: '^call_' }),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
});

export const ChatCompletion = Titled('ChatCompletion', {
  id: Type.String({ pattern: '^chatcmpl-' }),
  object: Type.Literal('chat.completion'),
  created: Type.Integer(),
  model: Type.String(),
  provider: Type.String(),
  system_fingerprint: Type.Null(),
  choices: Type.Array(
    Type.Object({
      index: Count,
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: Nullable(Type.String()),
        reasoning: Nullable(Type.String()),
        refusal: Type.Null(),
        tool_calls: Type.Optional(Type.Array(ToolCall, { minItems: 1 })),
      }),
      logprobs: Logprobs,
      finish_reason: FinishReason,
      native_finish_reason: Nullable(Type.String()),
    }),
  ),
  usage: ChatUsage,
});
export type ChatCompletion = Static<typeof ChatCompletion>;

const ToolCallDelta = Type.Object({
  index: Count,
  id: Type.Optional(Type.String({ pattern: '^call_' })),
  type: Type.Optional(Type.Literal('function')),
  function: Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String() }),
});

export const ChatChunk = Titled('ChatChunk', {
  id: Type.String({ pattern: '^chatcmpl-' }),
  object: Type.Literal('chat.completion.chunk'),
  created: Type.Integer(),
  model: Type.String(),
  provider: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Count,
      delta: Type.Object({
        role: Type.Optional(Type.Literal('assistant')),
        content: Type.Optional(Type.String()),
        reasoning: Type.Optional(Type.String()),
        tool_calls: Type.Optional(Type.Array(ToolCallDelta, { minItems: 1 })),
      }),
      finish_reason: Nullable(FinishReason),
      native_finish_reason: Nullable(Type.String()),
      logprobs: Type.Optional(Logprobs),
    }),
  ),
  usage: Type.Optional(ChatUsage),
  x_sluice_attempts: Type.Optional(Attempts),
  error: Type.Optional(
    Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      type: Type.String(),
      param: Type.Union([Type.String(), Type.Null()]),
      metadata: Type.Object({ error_type: Type.String(), code: Type.Optional(Type.String()) }),
    }),
  ),
});
export type ChatChunk = Static<typeof ChatChunk>;
