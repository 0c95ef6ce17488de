/** Input items, tools and tool choice of `POST /responses`. */
import Type, { type Static } from 'typebox';
import { FunctionName, ImageDetail, InputAudio, JsonObject, MediaText } from '../chat/content.ts';
import { Described } from '../shapes.ts';

/** One object for every kind of part, so that an error names the field and not a list of alternatives. */
export const InputPart = Type.Object({
  type: Type.Enum(
    [
      'input_text',
      'output_text',
      'refusal',
      'input_image',
      'input_file',
      'input_audio',
      'input_video',
      'reasoning_text',
      'encrypted_content',
    ],
    { description: 'What the part is; media belong in messages of the user and in outputs of tools' },
  ),
  text: Type.Optional(Type.String({ description: 'Of `input_text`, `output_text` and `reasoning_text`' })),
  refusal: Type.Optional(Type.String({ description: 'Of `refusal`' })),
  image_url: Type.Optional(MediaText('https URL or base64 data URI')),
  detail: Type.Optional(ImageDetail),
  file_data: Type.Optional(MediaText('base64 data URI')),
  file_url: Type.Optional(MediaText('https URL')),
  filename: Type.Optional(Type.String({ maxLength: 255, description: 'Of a file; shown to the model' })),
  /** Rejected by the reader: nothing is stored. */
  file_id: Type.Optional(Type.String({ description: 'Refused: no files are stored' })),
  input_audio: Type.Optional(InputAudio),
  video_url: Type.Optional(MediaText('https URL or base64 data URI')),
});
export type InputPart = Static<typeof InputPart>;

const Content = (description: string) =>
  Type.Union([Type.String(), Type.Array(InputPart, { maxItems: 4096 })], { description });
const CallId = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'Of calls and their outputs: the `call_id` that the call came with',
});

/** Any other value of a field that tells variants apart; the type is a placeholder, so that unions narrow. */
const otherThan = (description: string, ...values: readonly string[]) =>
  Type.Unsafe<'other'>(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: `^(?!(?:${values.join('|')})$)`,
      expected: '1 to 64 characters',
      description,
    }),
  );

const ToolWords = Type.Optional(Type.String({ description: 'Tells the model when to call the tool' }));

const FunctionTool = Type.Object({
  type: Type.Enum(['function'], { description: 'Takes arguments as JSON' }),
  name: FunctionName,
  description: ToolWords,
  parameters: Type.Optional(Described(JsonObject, 'JSON Schema of the arguments')),
  strict: Type.Optional(
    Type.Boolean({
      description: 'Arguments follow the schema exactly; it must then keep to the strict subset',
    }),
  ),
});
export type FunctionTool = Static<typeof FunctionTool>;

/** Takes plain text. */
const CustomTool = Type.Object({
  type: Type.Enum(['custom'], { description: 'Takes plain text' }),
  name: FunctionName,
  description: ToolWords,
  format: Type.Optional(
    Type.Union(
      [
        Type.Object({ type: Type.Enum(['text'], { description: 'Any text' }) }),
        Type.Object({
          type: Type.Enum(['grammar'], { description: 'Text that follows a grammar' }),
          syntax: Type.Enum(['lark', 'regex'], { description: 'How the grammar is written' }),
          definition: Type.String({ description: 'The grammar; part of what the model reads' }),
        }),
      ],
      { description: 'What the text should look like; part of the prompt, not enforced' },
    ),
  ),
});
export type CustomTool = Static<typeof CustomTool>;

const NamespaceTool = Type.Object({
  type: Type.Enum(['namespace'], { description: 'A group of tools' }),
  name: Type.String({ minLength: 1, maxLength: 256, description: 'Calls of its tools carry it' }),
  description: Type.Optional(Type.String({ description: 'Stands before the description of its first tool' })),
  tools: Type.Array(Type.Union([FunctionTool, CustomTool]), {
    maxItems: 1024,
    description: 'The tools of the group',
  }),
});

/** Runs at other providers only, `web_search` for one: shown in the response, not to the model. */
const OtherTool = Type.Object({
  type: otherThan(
    'A tool that does not run here, such as `web_search`: repeated in the response, not sent to the model',
    'function',
    'custom',
    'namespace',
  ),
});

const RequestTool = Type.Union([FunctionTool, CustomTool, NamespaceTool, OtherTool]);
export type RequestTool = Static<typeof RequestTool>;
export const Tools = Type.Array(RequestTool, {
  maxItems: 1024,
  description: 'What the model may call; tools of other types are accepted and not run',
});

/** One object for every kind of item that is read, so that an error names the field and not a list of alternatives. */
const ReadItem = Type.Object({
  type: Type.Optional(
    Type.Enum(
      [
        'message',
        'function_call',
        'function_call_output',
        'custom_tool_call',
        'custom_tool_call_output',
        'item_reference',
        'additional_tools',
        'tool_search_output',
        'agent_message',
      ],
      { description: 'What the item is; may be left out on messages' },
    ),
  ),
  id: Type.Optional(
    Type.String({ description: 'Of `item_reference`: only reasoning items may be referred to' }),
  ),
  role: Type.Optional(
    Type.Enum(['user', 'assistant', 'system', 'developer'], { description: 'Of messages: who speaks' }),
  ),
  content: Type.Optional(Content('Of messages: a text, or a list of parts')),
  call_id: Type.Optional(CallId),
  name: Type.Optional(Type.String({ minLength: 1, description: 'Of calls: the tool' })),
  namespace: Type.Optional(Type.String({ maxLength: 256, description: 'Of calls: the group of the tool' })),
  arguments: Type.Optional(Type.String({ description: 'Of `function_call`: JSON, as the model wrote it' })),
  input: Type.Optional(Type.String({ description: 'Of `custom_tool_call`: the text that the model wrote' })),
  output: Type.Optional(Content('Of outputs: what the tool returned; its call must come before it')),
  tools: Type.Optional(Described(Tools, 'Of `additional_tools` and `tool_search_output`: more tools')),
});
export type ReadItem = Static<typeof ReadItem>;

/** What clients replay of an earlier response and no engine takes: reasoning, and calls of tools that do not run here. */
const SkippedItem = Type.Object({
  type: Type.Enum(
    [
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
    ],
    { description: 'Items of earlier responses that no engine takes: accepted and left out' },
  ),
});

/** Rejected by the reader: the conversation so far is inside, encrypted. */
const CompactionItem = Type.Object({
  type: Type.Enum(['compaction', 'compaction_summary', 'context_compaction', 'compaction_trigger'], {
    description: 'Refused: the conversation inside is encrypted',
  }),
});

export const InputItem = Type.Union([ReadItem, SkippedItem, CompactionItem]);
export type InputItem = Static<typeof InputItem>;

const ToolReference = {
  name: Type.String({ minLength: 1, description: 'A tool out of `tools`' }),
  namespace: Type.Optional(Type.String({ maxLength: 256, description: 'The group that the tool is in' })),
};
const NamedTool = Type.Object({
  type: Type.Enum(['function', 'custom'], { description: 'Type of the tool' }),
  ...ToolReference,
});

export const ToolChoice = Type.Union(
  [
    Type.Enum(['none', 'auto', 'required']),
    NamedTool,
    Type.Object({
      type: Type.Enum(['allowed_tools'], { description: 'Only some of the tools' }),
      mode: Type.Enum(['auto', 'required'], { description: 'Whether one of them must be called' }),
      tools: Type.Array(
        Type.Union([
          NamedTool,
          Type.Object({ type: otherThan('A tool that does not run here', 'function', 'custom') }),
        ]),
        { maxItems: 1024, description: 'The tools that the engine is sent' },
      ),
    }),
    /** Rejected by the reader: demands a tool that does not run here. */
    Type.Object({
      type: otherThan(
        'Refused: demands a tool that does not run here',
        'function',
        'custom',
        'allowed_tools',
      ),
    }),
  ],
  { description: 'Whether, or which, tool must be called; 400 where a demanded tool does not run here' },
);
export type ToolChoice = Static<typeof ToolChoice>;
