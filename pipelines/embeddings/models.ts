/** GET /embeddings/models: a page of the embedding models. */
import type { Exchange, Pipeline, WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import { listAnswer } from '../models/model-list.ts';
import { readPage } from '../models/model-query.ts';

export const embeddingModels = (ports: Pick<Ports, 'catalog'>): Pipeline => compose(listModels(ports));

const listModels =
  ({ catalog }: Pick<Ports, 'catalog'>) =>
  (exchange: Exchange): WholeReply => {
    const query = new URLSearchParams(exchange.query);
    const page = readPage(query); // 400 offset, limit
    const models = catalog.list().filter((model) => model.kind === 'embedding'); // 502 503
    return listAnswer(models, { path: '/embeddings/models', query, page });
  };
