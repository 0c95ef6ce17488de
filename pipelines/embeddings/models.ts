/** GET /embeddings/models: a page in; the embedding models out. */
import { defer, of } from 'rxjs';
import type { Pipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { listAnswer } from '../models/model-list.ts';
import { readPage } from '../models/model-query.ts';

export const embeddingModels =
  (ports: Ports): Pipeline =>
  (exchange) =>
    defer(() => {
      const query = new URLSearchParams(exchange.query);
      const page = readPage(query); // 400 offset, limit
      const models = ports.catalog.list().filter((model) => model.kind === 'embedding'); // 502 503
      return of(listAnswer(models, { path: '/embeddings/models', query, page }));
    });
