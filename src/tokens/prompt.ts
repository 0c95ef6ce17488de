/** Estimates and bounds the tokens of a prompt. */
import type { ChatCall, ChatMessage, MediaContent } from '../ports/engines/chat.ts';
import type { CompletionCall } from '../ports/engines/completion.ts';

/** Of a chat, or texts as they are. */
export type Prompt = ChatPrompt | Pick<CompletionCall, 'prompts'>;

type ChatPrompt = Pick<ChatCall, 'messages' | 'tools'>;

/** What a chat template puts around each message, and before the answer. */
const perMessage = 4;
const perPrompt = 3;

/** Engines count media by their own rules; these are the usual sizes. */
const usualTokens: Record<MediaContent['type'], number> = { image: 1024, audio: 2048, video: 8192 };
const lowDetailImage = 85;

/** A UTF-16 unit is at most three bytes of UTF-8, and no token is shorter than a byte. */
const bytesPerUnit = 3;

/** Roughly what a token of prose is long. */
const charactersPerToken = 4;

/** Tokens beside the texts: templates, media and ids. */
export const fixedTokens = (prompt: Prompt): number =>
  'prompts' in prompt
    ? prompt.prompts.reduce((total, one) => total + (typeof one === 'string' ? 0 : one.length), 0)
    : prompt.messages.reduce((total, message) => total + perMessage + mediaOf(message), perPrompt);

/** Those of them that are estimates. */
export const mediaTokens = (prompt: Prompt): number =>
  'prompts' in prompt ? 0 : prompt.messages.reduce((total, message) => total + mediaOf(message), 0);

/** Every text the engine's tokenizer will read. */
export const promptTexts = (prompt: Prompt): readonly string[] =>
  'prompts' in prompt ? prompt.prompts.filter((one) => typeof one === 'string') : chatTexts(prompt);

const chatTexts = ({ messages, tools }: ChatPrompt): readonly string[] => {
  const texts: string[] = [];
  for (const message of messages) {
    for (const part of message.content) if (part.type === 'text') texts.push(part.text);
    if (message.role === 'assistant') {
      for (const call of message.toolCalls) texts.push(call.name, call.arguments);
    }
  }
  if (tools.length > 0) texts.push(JSON.stringify(tools));
  return texts;
};

/** Never less than the number of tokens; the loose bound first, as it does not look at the characters. */
export const fitsBytes = (texts: readonly string[], room: number): boolean =>
  lengthOf(texts) * bytesPerUnit <= room ||
  texts.reduce((total, text) => total + Buffer.byteLength(text), 0) <= room;

/** What templates add beside the usual: a date, instructions for tools. */
export const templateTokens = 256;

/** Engines may count media as many times what is usual. */
const mediaFactor = 16;

/** No fewer than an engine may count; where media are in it, all that the model reads. */
export const mostPromptTokens = (prompt: Prompt, window: number | undefined): number => {
  const media = mediaTokens(prompt);
  if (media > 0 && window !== undefined) return window;
  const texts = promptTexts(prompt).reduce((total, text) => total + Buffer.byteLength(text), 0);
  const most = texts + fixedTokens(prompt) + media * (mediaFactor - 1) + templateTokens;
  // A text completion may have many prompts, each within the window.
  const prompts = 'prompts' in prompt ? prompt.prompts.length : 1;
  return window === undefined ? most : Math.min(most, window * prompts);
};

export const lengthOf = (texts: readonly string[]): number =>
  texts.reduce((total, text) => total + text.length, 0);

/** For bills without an engine's own numbers. */
export const estimatePrompt = (prompt: Prompt): number =>
  fixedTokens(prompt) + Math.ceil(lengthOf(promptTexts(prompt)) / charactersPerToken);

/** Tokens of a streamed piece: about four characters each, and at least one, as most engines send them one by one. */
export const estimatePiece = (length: number): number => Math.max(1, Math.floor(length / charactersPerToken));

const mediaOf = (message: ChatMessage): number => {
  let total = 0;
  for (const part of message.content) {
    if (part.type === 'text') continue;
    total += part.type === 'image' && part.detail === 'low' ? lowDetailImage : usualTokens[part.type];
  }
  return total;
};
