/** GET /models, /models/count and /embeddings/models, and the lists of other families. */
import type { Model, ModelKind } from '../../schemas/catalog.ts';
import { entryText } from '../../src/catalog/entry.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import { jsonReply, jsonTextReply, type Pipeline, type WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import { messagesModelsList } from './messages-list.ts';
import { type ListQuery, type ModelFilter, readFilter, readListQuery } from './query.ts';

export const modelsList = ({ catalog }: Ports): Pipeline => {
  const messagesFormat = messagesModelsList(catalog);
  const plainFormat = compose(
    readListQuery, // 400 offset, limit
    replyList(catalog), // 502 503
  );
  return compose((exchange, request) =>
    exchange.dialect === 'messages' ? messagesFormat(exchange, request) : plainFormat(exchange, request),
  );
};

export const modelsCount = ({ catalog }: Ports): Pipeline =>
  compose(
    readFilter,
    countModels(catalog), // 502 503
    (count) => jsonReply({ data: { count } }),
  );

export const embeddingModels = ({ catalog }: Ports): Pipeline =>
  compose(
    readListQuery, // 400 offset, limit
    replyEmbeddingModels(catalog), // 502 503
  );

const replyEmbeddingModels =
  (catalog: Catalog) =>
  ({ query, page }: ListQuery): WholeReply => {
    const models = catalog.list().filter(({ kind }) => kind === 'embedding');
    return listReply(models, { path: '/embeddings/models', query, page });
  };

/** Lists the served models of a kind whose capability spec is valid. */
export const specifiedModels =
  <Spec, Entry>(
    kind: ModelKind,
    specOf: (model: Model) => Spec | undefined,
    entryOf: (model: Model, spec: Spec) => Entry,
  ) =>
  ({ catalog }: Pick<Ports, 'catalog'>): Pipeline => {
    const entries = (model: Model): readonly Entry[] => {
      const spec = model.kind === kind ? specOf(model) : undefined;
      return spec === undefined ? [] : [entryOf(model, spec)];
    };
    return compose(
      () => catalog.list().flatMap(entries), // 502 503
      (data) => jsonReply({ data }),
    );
  };

const replyList =
  (catalog: Catalog) =>
  ({ filter, ...page }: ListQuery): WholeReply =>
    listReply(catalog.list().filter(filter), { path: '/models', ...page });

const countModels =
  (catalog: Catalog) =>
  (filter: ModelFilter): number =>
    catalog.list().filter(filter).length;

interface ListPage extends Pick<ListQuery, 'query' | 'page'> {
  /** Path below `/v1`, for the link to the next page. */
  readonly path: string;
}

/** Made of entries that were rendered once. */
const listReply = (models: readonly Model[], request: ListPage): WholeReply => {
  const { offset, limit } = request.page ?? { offset: 0, limit: models.length };
  const shown = models.slice(offset, offset + limit);
  const next = offset + limit < models.length ? nextPage(request, offset + limit, limit) : null;
  return jsonTextReply(
    `{"object":"list","data":[${shown.map(entryText).join(',')}],"total_count":${models.length},"links":{"next":${JSON.stringify(next)}}}`,
  );
};

const nextPage = ({ path, query }: ListPage, offset: number, limit: number): string => {
  const next = new URLSearchParams(query);
  next.set('offset', String(offset));
  next.set('limit', String(limit));
  return `/v1${path}?${next}`;
};
