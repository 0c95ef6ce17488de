/** Reads the paging parameters of a query: a 400 names the parameter. */
import { fail } from '../../src/errors.ts';

export const readLimit = (query: URLSearchParams, usual: number, most: number): number => {
  const limit = readInteger(query, 'limit', usual);
  if (limit === undefined || limit < 1 || limit > most)
    throw fail('invalid_request', `limit must be an integer from 1 to ${most}`);
  return limit;
};

export const readOffset = (query: URLSearchParams): number => {
  const offset = readInteger(query, 'offset', 0);
  if (offset === undefined) throw fail('invalid_request', 'offset must be an integer of at least 0');
  return offset;
};

/** Undefined for anything but digits that make an exact number. */
const readInteger = (query: URLSearchParams, name: string, usual: number): number | undefined => {
  const text = query.get(name);
  if (text === null) return usual;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};
