/** Pages of lists: which one is requested, and its JSON. */
import { listJson, readPage } from '../../pipelines/core/page.ts';
import type { ListQuery } from '../ports/state.ts';

interface Entry {
  readonly id: string;
}

/** Of entries that are all here, oldest first. */
export const pageOf = <T extends Entry>(entries: readonly T[], query: URLSearchParams) => {
  const page = readPage({ query: query.toString() });
  const ordered = page.order === 'asc' ? entries : entries.toReversed();
  const { after, before, limit } = page;
  const place = (id: string): number => ordered.findIndex((entry) => entry.id === id);
  const start = after === undefined ? 0 : place(after) + 1;
  const end = before === undefined ? ordered.length : place(before);
  // As a store has it: an unknown cursor yields an empty page.
  const isUnknown = (after !== undefined && start === 0) || end < 0;
  const between = isUnknown ? [] : ordered.slice(start, end);
  const isLast = before !== undefined && after === undefined;
  return listJson(isLast ? between.slice(-limit - 1) : between.slice(0, limit + 1), page);
};

/** Of entries that a store reads page by page. */
export const storedPage = async <Stored, T extends Entry>(
  query: URLSearchParams,
  read: (page: ListQuery) => Promise<readonly Stored[]>,
  show: (record: Stored) => T,
) => {
  const page = readPage({ query: query.toString() });
  const owner = query.get('subscription') ?? '';
  const found = await read({ ...page, limit: page.limit + 1, ...(owner === '' ? {} : { owner }) });
  return listJson(found.map(show), page);
};
