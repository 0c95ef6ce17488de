/** Reads the query of GET /usage: period, groups and page, or a 400 that names the parameter. */
import { currentMonth, readTime, timeForms } from '../../src/billing/period.ts';
import { fail } from '../../src/errors.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import { readLimit } from '../core/page-query.ts';

/** A key sees its own subscription only, so that is no group. */
const groupWords = ['day', 'model', 'key', 'route'] as const;
type Group = (typeof groupWords)[number];

export interface UsageRequest {
  /** As it was sent, for the link to the next page. */
  readonly query: URLSearchParams;
  readonly period: { readonly from: number; readonly to: number };
  readonly groups: readonly Group[] | 'request';
  readonly limit: number;
  /** What the cursor holds: the values of the last total, or time and id of the last request. */
  readonly after: readonly string[] | undefined;
}

export const readUsageQuery = (exchange: Pick<Exchange, 'query'>): UsageRequest => {
  const query = new URLSearchParams(exchange.query);
  const usual = currentMonth(Date.now());
  const period = { from: time(query, 'from') ?? usual.from, to: time(query, 'to') ?? usual.to };
  if (period.from >= period.to) throw fail('invalid_request', 'from must be before to');
  const groups = readGroups(query.get('group_by') ?? 'day');
  return { query, period, groups, limit: readLimit(query, 100, 1000), after: readCursor(query, groups) };
};

const time = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name);
  if (text === null) return undefined;
  const read = readTime(text);
  if (read === undefined) throw fail('invalid_request', `${name} must be ${timeForms}`);
  return read;
};

const readGroups = (text: string): UsageRequest['groups'] => {
  if (text === 'request') return 'request';
  const words = text.split(',');
  const groups = groupWords.filter((group) => words.includes(group));
  if (groups.length !== words.length)
    throw fail(
      'invalid_request',
      `group_by must be some of ${groupWords.join(', ')}, each once, or request alone`,
    );
  return words as Group[];
};

export const writeCursor = (values: readonly string[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

const readCursor = (query: URLSearchParams, groups: UsageRequest['groups']): UsageRequest['after'] => {
  const text = query.get('after');
  if (text === null) return undefined;
  const values = parsed(Buffer.from(text, 'base64url').toString());
  const length = groups === 'request' ? 2 : groups.length;
  const fits =
    Array.isArray(values) &&
    values.length === length &&
    values.every((value): value is string => typeof value === 'string') &&
    (groups !== 'request' || /^\d{1,15}$/.test(values[0] ?? ''));
  if (!fits)
    throw fail('invalid_request', 'after must be a cursor out of links.next, with the same group_by');
  return values;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
