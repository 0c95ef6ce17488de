/** Reads texts or token ids from one of the four forms that clients send: a 400 names the item. */
import type { ApiError } from '../../src/errors.ts';
import { invalid } from './checks.ts';

export type Input = string | readonly number[];

interface InputRules {
  readonly field: string;
  readonly most: number;
  /** An empty text is one too. */
  readonly empty: boolean;
}

const largestId = 2 ** 31 - 1;

export const readInputs = (input: unknown, rules: InputRules): readonly Input[] => {
  const { field, most } = rules;
  if (typeof input === 'string') return [readText(input, field, rules)];
  if (!Array.isArray(input)) throw wrong(field, 'must be a string, an array of strings or token ids', input);
  const items: readonly unknown[] = input;
  if (items.length === 0) throw invalid(`${field} must have at least 1 item`);
  // Numbers by themselves are one input.
  if (typeof items[0] === 'number') return [readIds(items, field)];
  if (items.length > most) throw invalid(`${field} must have at most ${most} items, not ${items.length}`);
  return Array.isArray(items[0])
    ? items.map((item, index) => readIdList(item, `${field}[${index}]`))
    : items.map((item, index) => readItem(item, index, rules));
};

const readItem = (item: unknown, index: number, rules: InputRules): string => {
  const path = `${rules.field}[${index}]`;
  if (typeof item === 'string') return readText(item, path, rules);
  throw wrong(path, index === 0 ? 'must be a string or token ids' : 'must be a string', item);
};

const readText = (text: string, path: string, { empty }: InputRules): string => {
  if (text === '' && !empty) throw invalid(`${path} must not be empty`);
  return text;
};

const readIdList = (item: unknown, path: string): readonly number[] => {
  if (!Array.isArray(item)) throw wrong(path, 'must be an array of token ids', item);
  if (item.length === 0) throw invalid(`${path} must have at least 1 item`);
  return readIds(item, path);
};

export const readIds = (items: readonly unknown[], path: string): readonly number[] => {
  const at = items.findIndex((item) => !isId(item));
  if (at >= 0) throw wrong(`${path}[${at}]`, 'must be a token id, an integer of at least 0', items[at]);
  return items as readonly number[];
};

const isId = (item: unknown): boolean =>
  typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= largestId;

const wrong = (path: string, what: string, found: unknown): ApiError =>
  invalid(
    typeof found === 'object' && found !== null && !Array.isArray(found)
      ? `${path} ${what}: multimodal inputs are not supported`
      : `${path} ${what}`,
  );
