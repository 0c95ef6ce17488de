/** Content blocks that `POST /messages` takes. Unknown fields, `cache_control` and `citations` among them, are ignored. */
import Type, { type Static } from 'typebox';
import { Titled } from './shapes.ts';

/** Free-form JSON. */
export const JsonObject = Type.Record(Type.String(), Type.Unknown());

const mostBlocks = 4096;

export const Blocks = <T extends Type.TSchema>(block: T) =>
  Type.Union([Type.String(), Type.Array(block, { maxItems: mostBlocks })]);

/** A string to the client; the parser returns long base64 as bytes, so the reader checks it. */
const MediaText = (description: string) => Type.Unknown({ description: `string: ${description}` });

const Base64Source = Type.Object({
  type: Type.Enum(['base64']),
  media_type: Type.String({ maxLength: 255 }),
  data: MediaText('base64'),
});
const UrlSource = Type.Object({ type: Type.Enum(['url']), url: MediaText('https URL') });

export const ImageSource = Type.Union([Base64Source, UrlSource]);
export type ImageSource = Static<typeof ImageSource>;

export const TextBlock = Titled('InputTextBlock', { type: Type.Enum(['text']), text: Type.String() });

const ImageBlock = Titled('InputImageBlock', { type: Type.Enum(['image']), source: ImageSource });

const DocumentBlock = Titled('InputDocumentBlock', {
  type: Type.Enum(['document']),
  source: Type.Union([
    Base64Source,
    UrlSource,
    Type.Object({ type: Type.Enum(['text']), data: MediaText('plain text') }),
    Type.Object({ type: Type.Enum(['content']), content: Blocks(Type.Union([TextBlock, ImageBlock])) }),
  ]),
  title: Type.Optional(Type.String({ description: 'The model sees it above the text' })),
  context: Type.Optional(Type.String({ description: 'The model sees it between title and text' })),
});
export type DocumentBlock = Static<typeof DocumentBlock>;

const SearchResultBlock = Titled('InputSearchResultBlock', {
  type: Type.Enum(['search_result']),
  source: Type.String(),
  title: Type.String(),
  content: Type.Array(TextBlock, { maxItems: mostBlocks }),
});
export type SearchResultBlock = Static<typeof SearchResultBlock>;

export const ToolName = Type.String({ minLength: 1, maxLength: 200 });
const ToolUseId = Type.String({ minLength: 1, maxLength: 512 });

const ToolUseBlock = Titled('InputToolUseBlock', {
  type: Type.Enum(['tool_use']),
  id: ToolUseId,
  name: ToolName,
  input: JsonObject,
});
export type ToolUseBlock = Static<typeof ToolUseBlock>;

const ToolResultPart = Type.Union([
  TextBlock,
  ImageBlock,
  DocumentBlock,
  SearchResultBlock,
  Type.Object({ type: Type.Enum(['tool_reference']), tool_name: Type.String() }),
]);
export type ToolResultPart = Static<typeof ToolResultPart>;

const ToolResultBlock = Titled('InputToolResultBlock', {
  type: Type.Enum(['tool_result']),
  tool_use_id: ToolUseId,
  content: Type.Optional(Blocks(ToolResultPart)),
  is_error: Type.Optional(Type.Boolean()),
});
export type ToolResultBlock = Static<typeof ToolResultBlock>;

/** What replaced the beginning of a conversation that another service has shortened. */
const CompactionBlock = Type.Object({
  type: Type.Enum(['compaction']),
  content: Type.Optional(Type.String()),
});

/** Of an assistant's turn; sent back to the engine that signed it, and left out of all other prompts. */
const ThinkingBlock = Titled('InputThinkingBlock', {
  type: Type.Enum(['thinking']),
  thinking: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
});
export type ThinkingBlock = Static<typeof ThinkingBlock>;

/** Of an assistant's turn, and left out of the prompt: no engine here has redacted thinking, and server tools ran elsewhere. */
const LeftOutBlock = Type.Object({
  type: Type.Enum([
    'redacted_thinking',
    'server_tool_use',
    'web_search_tool_result',
    'web_fetch_tool_result',
    'code_execution_tool_result',
    'bash_code_execution_tool_result',
    'text_editor_code_execution_tool_result',
    'tool_search_tool_result',
    'advisor_tool_result',
    'mcp_tool_use',
    'mcp_tool_result',
    'mcp_tool_listing',
    'fallback',
  ]),
});

/** The most frequent ones first: a check tries one after the other. */
export const InputBlock = Type.Union([
  TextBlock,
  ToolUseBlock,
  ToolResultBlock,
  ThinkingBlock,
  LeftOutBlock,
  ImageBlock,
  DocumentBlock,
  SearchResultBlock,
  CompactionBlock,
]);
export type InputBlock = Static<typeof InputBlock>;
