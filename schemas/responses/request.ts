/** Requests of `POST /responses`. Unknown fields are forwarded, refused or ignored; null means absent. */
import Type, { type Static } from 'typebox';
import { FunctionName, JsonObject } from '../chat/content.ts';
import { EndUser, ModelName, Reasoning, sampling } from '../chat/fields.ts';
import { Described, Metadata, Titled } from '../shapes.ts';
import { InputItem, ToolChoice, Tools } from './input.ts';

export const TextFormat = Type.Object(
  {
    type: Type.Enum(['text', 'json_object', 'json_schema'], {
      description: '`text` by default; `json_object` is any JSON, `json_schema` follows a schema',
    }),
    name: Type.Optional(FunctionName),
    description: Type.Optional(Type.String({ description: 'Tells the model what the format is for' })),
    schema: Type.Optional(Described(JsonObject, 'JSON Schema of the text, for `json_schema`')),
    strict: Type.Optional(Type.Boolean({ description: 'Sent to the engine as it is' })),
  },
  { description: 'The form that the text of the response has' },
);

const refused = Type.Optional(
  Type.Unknown({ description: 'Refused: nothing is stored; send the whole input' }),
);

export const ResponsesRequest = Titled('ResponsesRequest', {
  model: Type.Optional(ModelName('Id of a chat model; the default model when absent')),
  input: Type.Union([Type.String(), Type.Array(InputItem, { minItems: 1, maxItems: 16_384 })], {
    description: 'A text, or the items of the conversation so far, oldest first',
  }),
  instructions: Type.Optional(Type.String({ description: 'Instructions before the conversation' })),
  stream: Type.Optional(Type.Boolean({ description: 'Sends the response as server-sent events' })),
  max_output_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Tokens that may be generated, thinking included; cut to what the context window leaves',
    }),
  ),
  ...sampling,
  top_logprobs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 20,
      description: 'So many alternatives to each token; see `include`',
    }),
  ),
  include: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 64,
      description: '`message.output_text.logprobs` returns log probabilities; other values have no effect',
    }),
  ),
  tools: Type.Optional(Tools),
  tool_choice: Type.Optional(ToolChoice),
  parallel_tool_calls: Type.Optional(
    Type.Boolean({ description: 'False: at most one call, where the engine can keep to it' }),
  ),
  reasoning: Type.Optional(Reasoning),
  text: Type.Optional(
    Type.Object({ format: Type.Optional(TextFormat) }, { description: 'What the text looks like' }),
  ),
  metadata: Type.Optional(Metadata),
  user: EndUser,
  prompt_cache_key: Type.Optional(Type.String({ description: 'Without effect; repeated in the response' })),
  safety_identifier: Type.Optional(Type.String({ description: 'Without effect; repeated in the response' })),
  /** Rejected by the reader: nothing is stored. */
  previous_response_id: refused,
  conversation: refused,
  prompt: refused,
  background: Type.Optional(
    Type.Boolean({
      description: 'It goes on without its client, and can be read for a while: `GET /responses/{id}`',
    }),
  ),
});
export type ResponsesRequest = Static<typeof ResponsesRequest>;
