/** Requests of `POST /messages` and `/messages/count_tokens`. Unknown fields are forwarded, refused or ignored; null means absent. */
import Type, { type Static } from 'typebox';
import { Described, Titled } from '../shapes.ts';
import { Blocks, InputBlock, JsonObject, TextBlock as SystemBlock, ToolName } from './blocks.ts';

export const InputMessage = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system'], {
    description: 'Who speaks; a `system` message follows a `user` message and has only text',
  }),
  content: Blocks(InputBlock, 'A text, or a list of blocks'),
  clear_at: Type.Optional(
    Type.Enum(['never'], { description: 'No other value: system messages hold for the whole conversation' }),
  ),
  /** Refused by the reader: only the request as a whole has one. */
  output_config: Type.Optional(Type.Unknown({ description: 'Refused: only the request as a whole has one' })),
});
export type InputMessage = Static<typeof InputMessage>;

const Thinking = Type.Object(
  {
    type: Type.Enum(['enabled', 'adaptive', 'disabled'], {
      description: '`enabled` needs a budget, `adaptive` lets the model decide',
    }),
    budget_tokens: Type.Optional(
      Type.Integer({
        minimum: 1024,
        description:
          'Tokens it may think with, fewer than `max_tokens`; only models that enforce budgets take it',
      }),
    ),
    /** Claude Code asks for `updates`, which is what a stream gives anyway. */
    display: Type.Optional(
      Type.Enum(['summarized', 'omitted', 'updates'], {
        description: '`omitted` hides the text and keeps its signature; not beside `disabled`',
      }),
    ),
  },
  { description: 'Shows thinking. Without it none is shown, and it is switched off where the model allows' },
);

const OutputFormat = Type.Object(
  {
    type: Type.Enum(['json_schema'], { description: 'There is no other format' }),
    schema: Described(JsonObject, 'JSON Schema of the response'),
  },
  { description: 'The response is JSON that follows a schema' },
);

const OutputConfig = Type.Object(
  {
    effort: Type.Optional(
      Type.Enum(['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'], {
        description: 'How much the model thinks; a level that it does not have is a 400',
      }),
    ),
    format: Type.Optional(OutputFormat),
  },
  { description: 'How much the model thinks, and the form of its response' },
);

const Tool = Type.Object({
  name: ToolName,
  description: Type.Optional(Type.String({ description: 'Tells the model when to call the tool' })),
  input_schema: Described(JsonObject, 'JSON Schema of the arguments'),
  strict: Type.Optional(Type.Boolean({ description: 'Passed on to the engine' })),
  input_examples: Type.Optional(
    // Engines have no field for them.
    Type.Array(JsonObject, { maxItems: 64, description: 'Sample arguments; added to the description' }),
  ),
});

const ToolChoice = Type.Object(
  {
    type: Type.Enum(['auto', 'any', 'tool', 'none'], {
      description: '`any` forces at least one call, `tool` a call of the tool that `name` names',
    }),
    name: Type.Optional(Type.String({ minLength: 1, description: 'Required with `tool`' })),
    disable_parallel_tool_use: Type.Optional(Type.Boolean({ description: 'At most one call' })),
  },
  { description: 'Whether, or which, tool must be called' },
);

/** Fields of both routes: the prompt and the form of its response. */
const promptFields = {
  model: Type.String({
    minLength: 1,
    maxLength: 512,
    description: 'Id of a chat model, with or without `anthropic/` before it',
    examples: ['sluice/chat'],
  }),
  messages: Type.Array(InputMessage, {
    minItems: 1,
    maxItems: 16_384,
    description:
      'The conversation so far, oldest first; messages of one role that follow each other are merged, and a last one of the assistant is continued',
  }),
  system: Type.Optional(Blocks(SystemBlock, 'Instructions before the conversation: a text, or text blocks')),
  thinking: Type.Optional(Thinking),
  output_config: Type.Optional(OutputConfig),
  output_format: Type.Optional(Described(OutputFormat, 'Older name of `output_config.format`')),
  tools: Type.Optional(
    Type.Array(Tool, {
      maxItems: 1024,
      description: 'Functions that the model may call; server tools are a 400',
    }),
  ),
  tool_choice: Type.Optional(ToolChoice),
};

export const MessagesRequest = Titled('MessagesRequest', {
  ...promptFields,
  max_tokens: Type.Integer({ minimum: 0, description: 'Tokens that may be generated, thinking included' }),
  stream: Type.Optional(Type.Boolean({ description: 'Sends the message as server-sent events' })),
  temperature: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Randomness; 0 takes the likeliest token' }),
  ),
  top_p: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Only the likeliest tokens with this probability together',
    }),
  ),
  top_k: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'Only so many of the likeliest tokens' }),
  ),
  stop_sequences: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 8192,
      description: 'Generation ends before the first of these texts that occurs',
    }),
  ),
  metadata: Type.Optional(
    Type.Object(
      {
        user_id: Type.Optional(
          Type.String({ description: 'Your own id of the end user; sent to the engine' }),
        ),
      },
      { description: 'Only `user_id` has an effect' },
    ),
  ),
});
export type MessagesRequest = Static<typeof MessagesRequest>;

export const CountTokensRequest = Titled('CountTokensRequest', promptFields);
export type CountTokensRequest = Static<typeof CountTokensRequest>;
