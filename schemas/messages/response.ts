/** Responses and events of `POST /messages` and `/messages/count_tokens`. */
import Type, { type Static } from 'typebox';
import { Attempts, CountOf, Described, Nullable, Titled } from '../shapes.ts';
import { JsonObject } from './blocks.ts';

export const TokenCount = Titled('TokenCount', { input_tokens: CountOf('Tokens of the prompt') });

const TextBlock = Type.Object({
  type: Type.Literal('text'),
  text: Type.String({ description: 'What the model says; empty where a stream begins it' }),
  /** Absent from whole messages: a widely used client rejects null there. */
  citations: Type.Optional(Type.Null()),
});
const ThinkingBlock = Type.Object({
  type: Type.Literal('thinking'),
  thinking: Type.String({ description: 'What the model thought; empty with `display: omitted`' }),
  signature: Type.String({ description: 'Send it back with the text in later requests' }),
});
const ToolUseBlock = Type.Object({
  type: Type.Literal('tool_use'),
  id: Type.String({ pattern: '^toolu_', description: 'Send it back as `tool_use_id` with the result' }),
  name: Type.String({ description: 'The tool to call' }),
  input: Described(JsonObject, 'Arguments; empty where a stream begins them'),
});
const OutputBlock = Type.Union([TextBlock, ThinkingBlock, ToolUseBlock]);
export type OutputBlock = Static<typeof OutputBlock>;

const StopReason = Type.Enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'], {
  description:
    'Why it ended: by itself, at the limit of tokens, at a stop text, with calls of tools, by a filter',
});
const StopSequence = Nullable(Type.String(), 'The stop text that ended it');

const countFields = {
  input_tokens: CountOf('Tokens of the prompt that were not read from a cache'),
  cache_creation_input_tokens: CountOf('Always 0: engines do not report it'),
  cache_read_input_tokens: CountOf('Tokens of the prompt that the engine read from its cache'),
  output_tokens: CountOf('Tokens generated, thinking included'),
  output_tokens_details: Type.Object({ thinking_tokens: CountOf('Of these: spent on thinking') }),
  server_tool_use: Type.Null(),
};

const MessageUsage = Titled(
  'MessageUsage',
  {
    ...countFields,
    cache_creation: Type.Null(),
    service_tier: Type.Literal('standard'),
    inference_geo: Type.Null(),
    speed: Type.Null(),
  },
  'What was read and generated: the billed quantities',
);

export const Message = Titled('Message', {
  id: Type.String({ pattern: '^msg_', description: 'Id of the message' }),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String({ description: 'The model that answered' }),
  content: Type.Array(OutputBlock, { description: 'Thinking, text and calls of tools, in their order' }),
  stop_reason: Nullable(StopReason, 'Null in `message_start`'),
  stop_sequence: StopSequence,
  stop_details: Type.Null(),
  container: Type.Null(),
  diagnostics: Type.Null(),
  usage: MessageUsage,
});
export type Message = Static<typeof Message>;

const piece = (description: string) => Type.String({ minLength: 1, description });

const Delta = Type.Union([
  Type.Object({ type: Type.Literal('text_delta'), text: piece('The next piece of the text') }),
  Type.Object({ type: Type.Literal('thinking_delta'), thinking: piece('The next piece of the thinking') }),
  Type.Object({ type: Type.Literal('signature_delta'), signature: piece('Last delta of a thinking block') }),
  Type.Object({
    type: Type.Literal('input_json_delta'),
    partial_json: piece('The next piece of the arguments; all together are one JSON object'),
  }),
]);

const index = CountOf('Number of the block, from 0; blocks do not overlap');

export const MessageEvent = Type.Union(
  [
    Type.Object({ type: Type.Literal('message_start'), message: Message }),
    Type.Object({ type: Type.Literal('ping') }),
    Type.Object({ type: Type.Literal('content_block_start'), index, content_block: OutputBlock }),
    Type.Object({ type: Type.Literal('content_block_delta'), index, delta: Delta }),
    Type.Object({ type: Type.Literal('content_block_stop'), index }),
    Type.Object({
      type: Type.Literal('message_delta'),
      delta: Type.Object({
        stop_reason: StopReason,
        stop_sequence: StopSequence,
        stop_details: Type.Null(),
        container: Type.Null(),
      }),
      usage: Type.Object(countFields),
      x_sluice_attempts: Type.Optional(Attempts),
    }),
    Type.Object({ type: Type.Literal('message_stop') }),
    Type.Object({
      type: Type.Literal('error'),
      error: Type.Object({
        type: Type.Literal('api_error'),
        message: Type.String({ description: 'Text for people' }),
      }),
    }),
  ],
  { title: 'MessageEvent', description: 'Data of one event; the name of the event is its `type`' },
);
export type MessageEvent = Static<typeof MessageEvent>;
