/** Reads which page of a list is requested, and renders it: a 400 names the parameter. */
import type { Exchange } from '../../src/ports/exchange.ts';
import type { RecordPage } from '../../src/ports/vector-stores.ts';
import type { ItemPage } from '../../src/ports/vectors.ts';
import { invalid } from './checks.ts';

const usualLimit = 20;
const mostLimit = 100;

/** Of vector stores or files. */
export const readPage = (exchange: Pick<Exchange, 'query'>): RecordPage => {
  const query = new URLSearchParams(exchange.query);
  return {
    limit: readLimit(query),
    order: readOrder(query, 'desc'),
    ...cursor(query, 'after'),
    ...cursor(query, 'before'),
  };
};

export const readItemPage = (exchange: Pick<Exchange, 'query'>): ItemPage => {
  const query = new URLSearchParams(exchange.query);
  const limit = readLimit(query);
  const { file_id: file } = cursor(query, 'file_id');
  return {
    limit,
    ...cursor(query, 'after'),
    order: readOrder(query, 'asc'),
    ...(file === undefined ? {} : { file }),
  };
};

export const readLimit = (query: URLSearchParams, usual = usualLimit, most = mostLimit): number => {
  const text = query.get('limit');
  const limit = text === null ? usual : /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > most) throw invalid(`limit must be an integer from 1 to ${most}`);
  return limit;
};

export const readOffset = (query: URLSearchParams): number => {
  const text = query.get('offset') ?? '0';
  if (!/^\d{1,15}$/.test(text)) throw invalid('offset must be an integer of at least 0');
  return Number(text);
};

const readOrder = (query: URLSearchParams, usual: 'asc' | 'desc'): 'asc' | 'desc' => {
  const order = query.get('order') ?? usual;
  if (order !== 'asc' && order !== 'desc') throw invalid('order must be asc or desc');
  return order;
};

/** Ids of ours are short; an empty one counts as none. */
const cursor = <Name extends string>(
  query: URLSearchParams,
  name: Name,
): { readonly [name in Name]?: string } => {
  const id = query.get(name) ?? '';
  if (id.length > 100) throw invalid(`${name} must be an id out of the list`);
  return id === '' ? {} : ({ [name]: id } as { readonly [name in Name]: string });
};

/** One entry more than requested means that there are more; it is at the end that the page continues at. */
export const listJson = <Entry extends { readonly id?: unknown }>(
  entries: readonly Entry[],
  { limit, after, before }: Pick<RecordPage, 'limit' | 'after' | 'before'>,
) => {
  const backwards = before !== undefined && after === undefined;
  const data = backwards ? entries.slice(-limit) : entries.slice(0, limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: entries.length > limit,
  } as const;
};
