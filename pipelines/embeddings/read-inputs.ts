/** The `input` of an embeddings request in; its texts or token ids out, whichever of the four forms it came in. 400 names the item. */
import { maxInputs } from '../../schemas/embeddings.ts';
import { type ApiError, fail } from '../../src/errors.ts';
import type { EmbeddingInput } from '../../src/ports/embedding.ts';

const largestId = 2 ** 31 - 1;

export const readInputs = (input: unknown): readonly EmbeddingInput[] => {
  if (typeof input === 'string') return [filled(input, 'input')];
  if (!Array.isArray(input))
    throw wrong('input', 'must be a string, an array of strings or token ids', input);
  const items: readonly unknown[] = input;
  if (items.length === 0) throw fail('invalid_request', 'input must have at least 1 item');
  // Numbers by themselves are one input.
  if (typeof items[0] === 'number') return [readIds(items, 'input')];
  if (items.length > maxInputs)
    throw fail('invalid_request', `input must have at most ${maxInputs} items, not ${items.length}`);
  return Array.isArray(items[0]) ? items.map(readIdsAt) : items.map(readText);
};

const readText = (item: unknown, index: number): string => {
  if (typeof item === 'string') return filled(item, `input[${index}]`);
  throw wrong(`input[${index}]`, index === 0 ? 'must be a string or token ids' : 'must be a string', item);
};

const readIdsAt = (item: unknown, index: number): readonly number[] => {
  if (!Array.isArray(item)) throw wrong(`input[${index}]`, 'must be an array of token ids', item);
  if (item.length === 0) throw fail('invalid_request', `input[${index}] must have at least 1 item`);
  return readIds(item, `input[${index}]`);
};

const readIds = (items: readonly unknown[], path: string): readonly number[] => {
  const at = items.findIndex((item) => !isId(item));
  if (at >= 0) throw wrong(`${path}[${at}]`, 'must be a token id, an integer of at least 0', items[at]);
  return items as readonly number[];
};

const isId = (item: unknown): boolean =>
  typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= largestId;

const filled = (text: string, path: string): string => {
  if (text === '') throw fail('invalid_request', `${path} must not be empty`);
  return text;
};

const wrong = (path: string, what: string, found: unknown): ApiError =>
  fail(
    'invalid_request',
    typeof found === 'object' && found !== null && !Array.isArray(found)
      ? `${path} ${what}: multimodal inputs are not supported`
      : `${path} ${what}`,
  );
