/** GET /embeddings/models: a page of the embedding models. */
import type { Catalog } from '../../src/ports/catalog.ts';
import type { Pipeline, WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import { listReply } from '../models/list.ts';
import { type ListQuery, readListQuery } from '../models/query.ts';

export const embeddingModels = ({ catalog }: Ports): Pipeline =>
  compose(
    readListQuery, // 400 offset, limit
    replyModels(catalog), // 502 503
  );

const replyModels =
  (catalog: Catalog) =>
  ({ query, page }: ListQuery): WholeReply => {
    const models = catalog.list().filter(({ kind }) => kind === 'embedding');
    return listReply(models, { path: '/embeddings/models', query, page });
  };
