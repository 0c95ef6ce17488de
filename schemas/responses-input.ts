/** Input items, tools and tool choice of `POST /responses`. */
import Type, { type Static } from 'typebox';
import { FunctionName, ImageDetail, InputAudio, JsonObject, MediaText } from './chat.ts';

/** One object for every kind of part, so that an error names the field and not a list of alternatives. */
export const InputPart = Type.Object({
  type: Type.Enum([
    'input_text',
    'output_text',
    'refusal',
    'input_image',
    'input_file',
    'input_audio',
    'input_video',
    'reasoning_text',
    'encrypted_content',
  ]),
  text: Type.Optional(Type.String()),
  refusal: Type.Optional(Type.String()),
  image_url: Type.Optional(MediaText('https URL or base64 data URI')),
  detail: Type.Optional(ImageDetail),
  file_data: Type.Optional(MediaText('base64 data URI')),
  file_url: Type.Optional(MediaText('https URL')),
  filename: Type.Optional(Type.String({ maxLength: 255 })),
  /** Rejected by the reader: nothing is stored. */
  file_id: Type.Optional(Type.String()),
  input_audio: Type.Optional(InputAudio),
  video_url: Type.Optional(MediaText('https URL or base64 data URI')),
});
export type InputPart = Static<typeof InputPart>;

const Content = Type.Union([Type.String(), Type.Array(InputPart, { maxItems: 4096 })]);
const CallId = Type.String({ minLength: 1, maxLength: 512 });

/** Any other value of a field that tells variants apart; the type is a placeholder, so that unions narrow. */
const otherThan = (...values: readonly string[]) =>
  Type.Unsafe<'other'>(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: `^(?!(?:${values.join('|')})$)`,
      expected: '1 to 64 characters',
    }),
  );

const FunctionTool = Type.Object({
  type: Type.Enum(['function']),
  name: FunctionName,
  description: Type.Optional(Type.String()),
  parameters: Type.Optional(JsonObject),
  strict: Type.Optional(Type.Boolean()),
});
export type FunctionTool = Static<typeof FunctionTool>;

/** Takes plain text. */
const CustomTool = Type.Object({
  type: Type.Enum(['custom']),
  name: FunctionName,
  description: Type.Optional(Type.String()),
  format: Type.Optional(
    Type.Union([
      Type.Object({ type: Type.Enum(['text']) }),
      Type.Object({
        type: Type.Enum(['grammar']),
        syntax: Type.Enum(['lark', 'regex']),
        definition: Type.String(),
      }),
    ]),
  ),
});
export type CustomTool = Static<typeof CustomTool>;

const NamespaceTool = Type.Object({
  type: Type.Enum(['namespace']),
  name: Type.String({ minLength: 1, maxLength: 256 }),
  description: Type.Optional(Type.String()),
  tools: Type.Array(Type.Union([FunctionTool, CustomTool]), { maxItems: 1024 }),
});

/** Runs at other providers only, `web_search` for one: shown in the response, not to the model. */
const OtherTool = Type.Object({ type: otherThan('function', 'custom', 'namespace') });

const RequestTool = Type.Union([FunctionTool, CustomTool, NamespaceTool, OtherTool]);
export type RequestTool = Static<typeof RequestTool>;
export const Tools = Type.Array(RequestTool, { maxItems: 1024 });

/** One object for every kind of item that is read, so that an error names the field and not a list of alternatives. */
const ReadItem = Type.Object({
  /** Absent on messages that have only a role and content. */
  type: Type.Optional(
    Type.Enum([
      'message',
      'function_call',
      'function_call_output',
      'custom_tool_call',
      'custom_tool_call_output',
      'item_reference',
      'additional_tools',
      'tool_search_output',
      'agent_message',
    ]),
  ),
  /** Of `item_reference`. */
  id: Type.Optional(Type.String()),
  role: Type.Optional(Type.Enum(['user', 'assistant', 'system', 'developer'])),
  content: Type.Optional(Content),
  /** Of calls and their outputs. */
  call_id: Type.Optional(CallId),
  name: Type.Optional(Type.String({ minLength: 1 })),
  namespace: Type.Optional(Type.String({ maxLength: 256 })),
  arguments: Type.Optional(Type.String()),
  input: Type.Optional(Type.String()),
  output: Type.Optional(Content),
  /** Of `additional_tools` and `tool_search_output`. */
  tools: Type.Optional(Tools),
});
export type ReadItem = Static<typeof ReadItem>;

/** What clients replay of an earlier response and no engine takes: reasoning, and calls of tools that do not run here. */
const SkippedItem = Type.Object({
  type: Type.Enum([
    'reasoning',
    'web_search_call',
    'file_search_call',
    'image_generation_call',
    'code_interpreter_call',
    'computer_call',
    'computer_call_output',
    'local_shell_call',
    'local_shell_call_output',
    'shell_call',
    'shell_call_output',
    'apply_patch_call',
    'apply_patch_call_output',
    'mcp_call',
    'mcp_list_tools',
    'mcp_approval_request',
    'mcp_approval_response',
    'tool_search_call',
    'program',
    'program_output',
  ]),
});

/** Rejected by the reader: the conversation so far is inside, encrypted. */
const CompactionItem = Type.Object({
  type: Type.Enum(['compaction', 'compaction_summary', 'context_compaction', 'compaction_trigger']),
});

export const InputItem = Type.Union([ReadItem, SkippedItem, CompactionItem]);
export type InputItem = Static<typeof InputItem>;

const ToolReference = {
  name: Type.String({ minLength: 1 }),
  namespace: Type.Optional(Type.String({ maxLength: 256 })),
};
const NamedTool = Type.Object({ type: Type.Enum(['function', 'custom']), ...ToolReference });

export const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  NamedTool,
  Type.Object({
    type: Type.Enum(['allowed_tools']),
    mode: Type.Enum(['auto', 'required']),
    tools: Type.Array(Type.Union([NamedTool, Type.Object({ type: otherThan('function', 'custom') })]), {
      maxItems: 1024,
    }),
  }),
  /** Rejected by the reader: demands a tool that does not run here. */
  Type.Object({ type: otherThan('function', 'custom', 'allowed_tools') }),
]);
export type ToolChoice = Static<typeof ToolChoice>;
