/** Models and a page → the JSON text of a model list, made of entries that were rendered once. */
import type { Model } from '../../schemas/catalog.ts';
import { entryText } from '../../src/catalog/entry.ts';
import { jsonTextReply, type WholeReply } from '../../src/ports/exchange.ts';
import type { Page } from './model-query.ts';

export interface ListRequest {
  /** Path below `/v1`, for the link to the next page. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly page: Page | undefined;
}

export const listAnswer = (models: readonly Model[], request: ListRequest): WholeReply => {
  const { offset, limit } = request.page ?? { offset: 0, limit: models.length };
  const shown = request.page === undefined ? models : models.slice(offset, offset + limit);
  const next = offset + limit < models.length ? nextPage(request, offset + limit, limit) : null;
  return jsonTextReply(
    `{"object":"list","data":[${shown.map(entryText).join(',')}],"total_count":${models.length},"links":{"next":${JSON.stringify(next)}}}`,
  );
};

const nextPage = ({ path, query }: ListRequest, offset: number, limit: number): string => {
  const next = new URLSearchParams(query);
  next.set('offset', String(offset));
  next.set('limit', String(limit));
  return `/v1${path}?${next}`;
};
