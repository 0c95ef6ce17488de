/** Parses the JSON of an engine, which may be anything. */
import { unreadable } from './json-picker.ts';

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined for what is no JSON; JSON itself never is. */
export const tryParse = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

export const parseJson = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw unreadable(cause);
  }
};

export const parseObject = (json: string): Json => {
  const value = parseJson(json);
  if (!isObject(value)) throw unreadable(new Error('The answer is no object'));
  return value;
};
