/** Content blocks that `POST /messages` takes. Unknown fields, `cache_control` and `citations` among them, are ignored. */
import Type, { type Static } from 'typebox';
import { Described, Titled } from '../shapes.ts';

/** Free-form JSON. */
export const JsonObject = Type.Record(Type.String(), Type.Unknown());

const mostBlocks = 4096;

export const Blocks = <T extends Type.TSchema>(block: T, description: string) =>
  Type.Union([Type.String(), Type.Array(block, { maxItems: mostBlocks })], { description });

/** A string to the client; the parser returns long base64 as bytes, so the reader checks it. */
const MediaText = (description: string) => Type.Unknown({ description: `A string: ${description}` });

/** The literal that tells a variant from others. */
const Kind = <Name extends string>(name: Name, description: string) => Type.Enum([name], { description });

const Base64Source = Type.Object({
  type: Kind('base64', 'The bytes are in the request'),
  media_type: Type.String({ maxLength: 255, description: 'Such as `image/png` or `application/pdf`' }),
  data: MediaText('base64 of the file'),
});
const UrlSource = Type.Object({
  type: Kind('url', 'The gateway fetches the file'),
  url: MediaText('https URL on a public address'),
});

export const ImageSource = Type.Union([Base64Source, UrlSource]);
export type ImageSource = Static<typeof ImageSource>;

export const TextBlock = Titled('InputTextBlock', {
  type: Kind('text', 'A piece of text'),
  text: Type.String({ description: 'Joined to neighbouring text blocks, with nothing between them' }),
});

const ImageBlock = Titled('InputImageBlock', {
  type: Kind('image', 'An image, for models that take images'),
  source: Described(ImageSource, 'Where the image comes from'),
});

const DocumentBlock = Titled('InputDocumentBlock', {
  type: Kind('document', 'A document, which is converted to text'),
  source: Type.Union(
    [
      Base64Source,
      UrlSource,
      Type.Object({ type: Kind('text', 'The document is plain text'), data: MediaText('the text') }),
      Type.Object({
        type: Kind('content', 'The document is a list of blocks'),
        content: Blocks(Type.Union([TextBlock, ImageBlock]), 'A text, or blocks of text and images'),
      }),
    ],
    { description: 'Where the document comes from: PDF, DOCX, HTML or any text' },
  ),
  title: Type.Optional(Type.String({ description: 'The model sees it above the text' })),
  context: Type.Optional(Type.String({ description: 'The model sees it between title and text' })),
});
export type DocumentBlock = Static<typeof DocumentBlock>;

const SearchResultBlock = Titled('InputSearchResultBlock', {
  type: Kind('search_result', 'A passage that your own search found; it becomes text'),
  source: Type.String({ description: 'Where it was found; the model sees it' }),
  title: Type.String({ description: 'The model sees it above the text' }),
  content: Type.Array(TextBlock, { maxItems: mostBlocks, description: 'The passage' }),
});
export type SearchResultBlock = Static<typeof SearchResultBlock>;

export const ToolName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The model calls the tool by it; 1 to 200 characters',
});
const ToolUseId = Type.String({ minLength: 1, maxLength: 512, description: 'Id of the `tool_use` block' });

const ToolUseBlock = Titled('InputToolUseBlock', {
  type: Kind('tool_use', 'A call that the assistant made'),
  id: ToolUseId,
  name: ToolName,
  input: Described(JsonObject, 'Arguments of the call'),
});
export type ToolUseBlock = Static<typeof ToolUseBlock>;

const ToolResultPart = Type.Union([
  TextBlock,
  ImageBlock,
  DocumentBlock,
  SearchResultBlock,
  Type.Object({
    type: Kind('tool_reference', 'A tool that a search of tools found'),
    tool_name: Type.String({ description: 'Name of that tool' }),
  }),
]);
export type ToolResultPart = Static<typeof ToolResultPart>;

const ToolResultBlock = Titled('InputToolResultBlock', {
  type: Kind('tool_result', 'What a tool returned; in a `user` message after its call'),
  tool_use_id: ToolUseId,
  content: Type.Optional(Blocks(ToolResultPart, 'A text, or blocks')),
  is_error: Type.Optional(Type.Boolean({ description: 'Tells the model that the tool failed' })),
});
export type ToolResultBlock = Static<typeof ToolResultBlock>;

/** What replaced the beginning of a conversation that another service has shortened. */
const CompactionBlock = Type.Object({
  type: Kind('compaction', 'A summary in place of earlier messages'),
  content: Type.Optional(Type.String({ description: 'The summary; it is kept as text' })),
});

/** Of an assistant's turn; sent back to the engine that signed it, and left out of all other prompts. */
const ThinkingBlock = Titled('InputThinkingBlock', {
  type: Kind('thinking', 'Thinking that is sent back; it reaches only the engine that signed it'),
  thinking: Type.Optional(Type.String({ description: 'The text, as it was received' })),
  signature: Type.Optional(Type.String({ description: 'The signature, as it was received' })),
});
export type ThinkingBlock = Static<typeof ThinkingBlock>;

/** Of an assistant's turn, and left out of the prompt: no engine here has redacted thinking, and server tools ran elsewhere. */
const LeftOutBlock = Type.Object({
  type: Type.Enum(
    [
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
    ],
    { description: 'Blocks of tools that do not run here: accepted, and left out of the prompt' },
  ),
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
