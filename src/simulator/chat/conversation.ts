/** Extracts from a chat call its question, topics, media, tool results and directives. */
import type { ChatCall, ChatMessage, MediaContent, UserContent } from '../../ports/engines/chat.ts';
import type { Base64 } from '../../ports/media.ts';
import { fixedTokens, type Prompt, promptTexts } from '../../tokens/prompt.ts';
import { countTokens } from '../../tokens/simulator.ts';
import type { Directives } from '../directives.ts';
import { hashText } from '../random.ts';
import { Allowance } from '../schema/budget.ts';
import { findQuestion } from './question.ts';

export interface Conversation {
  readonly directives: Directives;
  /** What the user says last, without the directive line and without reminders of agents. */
  readonly question: string;
  /** Words of the question worth speaking about. */
  readonly topics: readonly string[];
  /** Quoted words, names and numbers of the question, in its order: likely values for a tool's arguments. */
  readonly hints: readonly string[];
  /** Media of the question, each in a few words. */
  readonly media: readonly string[];
  /** What tools answered since the question. */
  readonly results: readonly { readonly name: string; readonly text: string }[];
  /** The assistant's text that is to be carried on; empty otherwise. */
  readonly begun: string;
  /** The same of its thinking, where that was not over; undefined otherwise. */
  readonly begunThought: string | undefined;
  /** The same for the same conversation; directives and the begun answer do not change it. */
  readonly hash: number;
  /** For the schemas of all its answers and tool calls together. */
  readonly schemaWork: Allowance;
}

/** Only the start of a long question is searched for words. */
const readLimit = 2000;
const topicLimit = 4;
const hintLimit = 16;

const commonWords = new Set(
  'about after again also and any are because been before being between both but can could did does doing down each few find for from further give had has have having hello help here how into just know let like list make many may more most much must name need not now off once one only other our out over own please same say she should show some such tell than thank thanks that the their them then there these they think this those through too two under until use very want was way were what when where which while who why will with would write you your'.split(
    ' ',
  ),
);

export function readConversation(call: ChatCall): Conversation {
  const { index: asked, text: question, directives } = findQuestion(call.messages);
  const content = call.messages[asked]?.content ?? [];
  const start = question.slice(0, readLimit);
  const begun = begunText(call);
  const begunThought = openThought(begun);
  return {
    directives,
    question,
    topics: topicsOf(start),
    hints: hintsOf(start),
    media: content.flatMap((part) => (part.type === 'text' ? [] : [describe(part)])),
    results: resultsAfter(call.messages, asked),
    begun: begunThought === undefined ? begun : '',
    begunThought,
    hash: hashConversation(call, asked, question),
    schemaWork: new Allowance(),
  };
}

/** Thinking is carried on: the tag in front of it is in the prompt. */
export const isMidThought = (call: ChatCall): boolean => openThought(begunText(call)) !== undefined;

function begunText({ continueFinal, messages }: ChatCall): string {
  return continueFinal ? textOf(messages.at(-1)?.content ?? []) : '';
}

/** What follows a tag that is still open, as templates write it. */
function openThought(text: string): string | undefined {
  return /^<think>\n(?![\s\S]*<\/think>)/.test(text) ? text.slice('<think>\n'.length) : undefined;
}

/** Tokens of everything the call says, directive lines included: counted as the gateway counts them. */
export function promptTokens(call: Prompt): number {
  let count = fixedTokens(call);
  for (const text of promptTexts(call)) count += countTokens(text);
  return count;
}

/** The same for a call and for what an engine's wire makes of it: text parts joined, `developer` called `system`. */
function hashConversation(call: ChatCall, asked: number, question: string): number {
  const end = call.continueFinal ? call.messages.length - 1 : call.messages.length;
  let hash = hashText('conversation');
  for (const [index, message] of call.messages.slice(0, end).entries()) {
    hash = hashText(message.role === 'developer' ? 'system' : message.role, hash);
    const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    hash = hashText(index === asked ? question : texts.join('\n'), hash);
    // Media are hashed by size and both ends: hashing megabytes would block every other stream.
    for (const part of message.content) {
      if (part.type === 'text') continue;
      const { base64 } = part;
      hash = hashText(`${base64.length}${asText(base64.slice(0, 64))}${asText(base64.slice(-64))}`, hash);
    }
  }
  return hash;
}

function topicsOf(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? [];
  const topics = new Map<string, string>();
  for (const word of words) {
    const key = word.toLowerCase();
    const fits = word.length > 2 && word.length <= 24 && !commonWords.has(key) && !/^\d+$/.test(word);
    if (fits && !topics.has(key)) topics.set(key, word);
    if (topics.size === topicLimit) break;
  }
  if (topics.size === 0 && words[0] !== undefined) return [words[0].slice(0, 24)];
  return [...topics.values()];
}

function hintsOf(text: string): readonly string[] {
  const found = text.matchAll(
    /["“]([^"“”\n]{1,80})["”]|(-?\d+(?:\.\d+)?)|(?<=[\p{L}\p{N},;:] )(\p{Lu}[\p{L}\p{N}'’-]*(?: \p{Lu}[\p{L}\p{N}'’-]*)*)/gu,
  );
  const hints: string[] = [];
  for (const match of found) {
    hints.push(match[1] ?? match[2] ?? match[3] ?? '');
    if (hints.length === hintLimit) break;
  }
  return hints;
}

function resultsAfter(messages: readonly ChatMessage[], asked: number): Conversation['results'] {
  const names = new Map<string, string>();
  const results: { name: string; text: string }[] = [];
  for (const message of messages.slice(asked + 1)) {
    if (message.role === 'assistant') for (const call of message.toolCalls) names.set(call.id, call.name);
    if (message.role === 'tool') {
      results.push({ name: names.get(message.callId) ?? 'tool', text: textOf(message.content) });
    }
  }
  return results;
}

function textOf(content: readonly UserContent[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : describe(part))).join('');
}

function describe({ type, mediaType, base64 }: MediaContent): string {
  const what = type === 'image' ? 'an image' : type === 'audio' ? 'an audio clip' : 'a video';
  if (base64.length === 0) return what;
  const end = asText(base64.slice(-2));
  const padding = end.endsWith('==') ? 2 : end.endsWith('=') ? 1 : 0;
  return `${what} of ${sizeOf(Math.floor((base64.length * 3) / 4) - padding)}, ${mediaType}`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Long base64 comes as the bytes of its characters. */
function asText(base64: Base64): string {
  return typeof base64 === 'string' ? base64 : Buffer.from(base64).toString('latin1');
}
