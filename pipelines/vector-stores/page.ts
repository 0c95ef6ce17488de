/** Reads the page that a list is asked for, and renders the list: a 400 names the parameter. */
import { fail } from '../../src/errors.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import type { RecordPage } from '../../src/ports/vector-stores.ts';
import type { ItemPage } from '../../src/ports/vectors.ts';
import { readLimit } from '../core/page-query.ts';

const usualLimit = 20;
const mostLimit = 100;

/** Of vector stores or files. */
export const readPage = (exchange: Pick<Exchange, 'query'>): RecordPage => {
  const query = new URLSearchParams(exchange.query);
  return {
    limit: readLimit(query, usualLimit, mostLimit),
    order: readOrder(query, 'desc'),
    ...cursor(query, 'after'),
    ...cursor(query, 'before'),
  };
};

export const readItemPage = (exchange: Pick<Exchange, 'query'>): ItemPage => {
  const query = new URLSearchParams(exchange.query);
  const limit = readLimit(query, usualLimit, mostLimit);
  const { file_id: file } = cursor(query, 'file_id');
  return {
    limit,
    ...cursor(query, 'after'),
    order: readOrder(query, 'asc'),
    ...(file === undefined ? {} : { file }),
  };
};

const readOrder = (query: URLSearchParams, usual: 'asc' | 'desc'): 'asc' | 'desc' => {
  const order = query.get('order') ?? usual;
  if (order !== 'asc' && order !== 'desc') throw fail('invalid_request', 'order must be asc or desc');
  return order;
};

/** Ids of ours are short; an empty one counts as none. */
const cursor = <Name extends string>(
  query: URLSearchParams,
  name: Name,
): { readonly [name in Name]?: string } => {
  const id = query.get(name) ?? '';
  if (id.length > 100) throw fail('invalid_request', `${name} must be an id out of the list`);
  return id === '' ? {} : ({ [name]: id } as { readonly [name in Name]: string });
};

/** One entry more than asked for means that there are more; it stands on the side that the page goes on to. */
export const listJson = <Entry extends { readonly id: string }>(
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
