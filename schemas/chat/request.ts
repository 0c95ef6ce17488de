/** Requests of `POST /chat/completions`. Unknown fields are forwarded, refused or ignored; null means absent. */
import Type, { type Static } from 'typebox';
import { Effort } from '../catalog.ts';
import { Described, Titled } from '../shapes.ts';
import { ContentPart, FunctionName, JsonObject } from './content.ts';
import { EndUser, LogitBias, ModelName, Reasoning, Stop, StreamOptions, sampling } from './fields.ts';

// ── messages ───────────────────────────────────────────────────────────────────────────────────────

const RequestToolCall = Type.Object({
  id: Type.String({ minLength: 1, description: 'The id that the call came with' }),
  type: Type.Optional(Type.Enum(['function'], { description: 'There are no other tools' })),
  function: Type.Object(
    {
      name: Type.String({ minLength: 1, description: 'The function that was called' }),
      arguments: Type.String({ description: 'JSON, as the model wrote it' }),
    },
    { description: 'What was called, and with what' },
  ),
});

const replayed = Type.Optional(
  Type.Unknown({ description: 'Accepted on replayed messages, and not sent to the model' }),
);

export const ChatRequestMessage = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool'], {
    description: 'Who speaks; `developer` is read as `system`',
  }),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(ContentPart, { maxItems: 4096 })], {
      description: 'A text, or a list of parts; may be left out beside `tool_calls`',
    }),
  ),
  name: Type.Optional(Type.String({ description: 'Tells speakers of one role apart' })),
  tool_calls: Type.Optional(
    Type.Array(RequestToolCall, { maxItems: 1024, description: 'On `assistant` messages: calls it made' }),
  ),
  tool_call_id: Type.Optional(
    Type.String({ minLength: 1, description: 'On `tool` messages: the call that this is the result of' }),
  ),
  /** What clients replay of an earlier response; not forwarded. */
  refusal: replayed,
  reasoning: replayed,
  reasoning_content: replayed,
  reasoning_details: replayed,
});
export type ChatRequestMessage = Static<typeof ChatRequestMessage>;

// ── tools and formats ──────────────────────────────────────────────────────────────────────────────

const ChatTool = Type.Object({
  type: Type.Enum(['function'], { description: 'There are no other tools' }),
  function: Type.Object(
    {
      name: FunctionName,
      description: Type.Optional(Type.String({ description: 'Tells the model when to call the function' })),
      parameters: Type.Optional(Described(JsonObject, 'JSON Schema of the arguments')),
      strict: Type.Optional(
        Type.Boolean({
          description: 'Arguments follow the schema exactly; it must then keep to the strict subset',
        }),
      ),
    },
    { description: 'What the model may call' },
  ),
});

const ChatToolChoice = Type.Union(
  [
    Type.Enum(['none', 'auto', 'required']),
    Type.Object({
      type: Type.Enum(['function'], { description: 'There are no other tools' }),
      function: Type.Object(
        { name: Type.String({ minLength: 1, description: 'A function out of `tools`' }) },
        { description: 'The one function to call' },
      ),
    }),
  ],
  { description: 'Whether, or which, tool must be called; all but `none` need `tools`' },
);

const ResponseFormat = Type.Object(
  {
    type: Type.Enum(['text', 'json_object', 'json_schema'], {
      description: '`text` by default; `json_object` is any JSON, `json_schema` follows a schema',
    }),
    json_schema: Type.Optional(
      Type.Object(
        {
          name: FunctionName,
          description: Type.Optional(Type.String({ description: 'Tells the model what the format is for' })),
          schema: Type.Optional(Described(JsonObject, 'JSON Schema of the response')),
          strict: Type.Optional(Type.Boolean({ description: 'Sent to the engine as it is' })),
        },
        { description: 'Required with the type `json_schema`' },
      ),
    ),
  },
  { description: 'The form that the text of the response has' },
);

// ── request ────────────────────────────────────────────────────────────────────────────────────────

export const ChatRequest = Titled('ChatRequest', {
  model: Type.Optional(
    ModelName(
      'Id of a chat model; the default model when absent. `:express` after it derives a thinking budget; a `-normalize` suffix is ignored',
    ),
  ),
  messages: Type.Array(ChatRequestMessage, {
    minItems: 1,
    maxItems: 16_384,
    description: 'The conversation so far, oldest first; a last message of the assistant is continued',
  }),
  continue_final_message: Type.Optional(
    Type.Boolean({
      description:
        'Continues the last message, which must be of the assistant and have text and no tool calls; only the new text is returned. Implied when the last message is of the assistant',
    }),
  ),
  stream: Type.Optional(
    Type.Boolean({ description: 'Sends chunks as they are generated, as server-sent events' }),
  ),
  stream_options: Type.Optional(StreamOptions),
  max_tokens: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Deprecated: `max_completion_tokens`, which wins' }),
  ),
  max_completion_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Tokens that may be generated, thinking included; 32768 by default. Cut to what the context window leaves beside the prompt, less 32 tokens',
    }),
  ),
  reasoning_effort: Type.Optional(Described(Effort, 'Short for `reasoning.effort`, which wins')),
  reasoning: Type.Optional(Reasoning),
  include_reasoning: Type.Optional(
    Type.Boolean({ description: 'False is the same as `reasoning.exclude: true`' }),
  ),
  n: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 128, description: 'Answers to the same prompt; 1 by default' }),
  ),
  ...sampling,
  response_format: Type.Optional(ResponseFormat),
  logit_bias: Type.Optional(LogitBias),
  stop: Stop,
  logprobs: Type.Optional(Type.Boolean({ description: 'Returns the log probability of each token' })),
  top_logprobs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 20,
      description: 'So many alternatives to each token; needs `logprobs: true`',
    }),
  ),
  tool_choice: Type.Optional(ChatToolChoice),
  tools: Type.Optional(
    Type.Array(ChatTool, { maxItems: 1024, description: 'Functions that the model may call' }),
  ),
  parallel_tool_calls: Type.Optional(
    Type.Boolean({ description: 'False: at most one call in an answer, where the engine can keep to it' }),
  ),
  user: EndUser,
});
export type ChatRequest = Static<typeof ChatRequest>;
