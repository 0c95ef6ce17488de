/** Writes a JSON value as a literal of a language, indented. */
import { FileText, type Json, type JsonObject } from '../call.ts';

export interface Notation {
  readonly true: string;
  readonly false: string;
  readonly null: string;
  readonly text: (text: string) => string;
  readonly name: (name: string) => string;
  readonly file: (text: FileText) => string;
  /** After the last member of a value on several lines. */
  readonly lastComma: boolean;
  readonly indent: string;
}

/** Characters of a value that is written on one line. */
const oneLine = 72;

export const membersOf = (value: JsonObject): readonly (readonly [string, Json])[] =>
  Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, member] as const]));

export const literal = (value: Json, notation: Notation, before = ''): string => {
  if (value === null) return notation.null;
  if (typeof value === 'boolean') return value ? notation.true : notation.false;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return notation.text(value);
  if (value instanceof FileText) return notation.file(value);
  const inside = before + notation.indent;
  const isList = Array.isArray(value);
  const parts = isList
    ? (value as readonly Json[]).map((each) => literal(each, notation, inside))
    : membersOf(value as JsonObject).map(
        ([name, member]) => `${notation.name(name)}: ${literal(member, notation, inside)}`,
      );
  const [open, close] = isList ? '[]' : '{}';
  const line = `${open}${parts.join(', ')}${close}`;
  if (parts.length === 0 || (line.length <= oneLine && !line.includes('\n'))) return line;
  const comma = notation.lastComma ? ',' : '';
  return `${open}\n${inside}${parts.join(`,\n${inside}`)}${comma}\n${before}${close}`;
};
