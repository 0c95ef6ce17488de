/** A conversation and its settings, the same for every dialect. */
import type { Json, JsonObject, PickedFile } from '../call.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly files: readonly PickedFile[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly reasoning: string;
      readonly calls: readonly ToolCall[];
    }
  | {
      readonly role: 'tool';
      readonly results: readonly { readonly call: ToolCall; readonly text: string }[];
    };

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
}

export interface Settings {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly Tool[];
  /** JSON schema of the response; undefined for text. */
  readonly schema: JsonObject | undefined;
  /** Empty: the model's default. */
  readonly effort: string;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
}

export type FileKind = 'image' | 'audio' | 'video' | 'file';

export const fileKindOf = ({ type }: PickedFile): FileKind => {
  const [kind] = type.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
};

const formats: Readonly<Record<string, string>> = { mpeg: 'mp3', mp4: 'm4a', 'x-m4a': 'm4a', 'x-wav': 'wav' };

/** `mp3` of `audio/mpeg`. */
export const audioFormatOf = ({ type }: PickedFile): string => {
  const subtype = type.replace(/^audio\//, '').replace(/;.*/, '');
  return formats[subtype] ?? subtype;
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws with what is wrong. */
export const readTools = (text: string): readonly Tool[] => {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value)) throw new Error('Tools are a list: [{ "name": …, "parameters": … }]');
  return value.map((tool: unknown, index) => {
    if (!isObject(tool) || typeof tool.name !== 'string') throw new Error(`[${index}].name is required`);
    const { name, description, parameters } = tool;
    if (description !== undefined && typeof description !== 'string')
      throw new Error(`[${index}].description must be a string`);
    if (parameters !== undefined && !isObject(parameters))
      throw new Error(`[${index}].parameters must be a JSON schema`);
    return {
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
    };
  });
};

export const readSchema = (text: string): JsonObject => {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error('A JSON schema is an object');
  return value;
};

/** Of a call's arguments, for dialects that send them as an object. */
export const argumentsOf = (call: ToolCall): Json => {
  try {
    const value = JSON.parse(call.arguments) as Json;
    return isObject(value) ? value : {};
  } catch {
    // The model wrote something else; the raw events show it.
    return {};
  }
};
