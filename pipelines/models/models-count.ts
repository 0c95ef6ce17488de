/** GET /models/count: filters in; the number of models the list would have out. */
import { defer, of } from 'rxjs';
import { jsonReply, type Pipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { readFilter } from './model-query.ts';

export const modelsCount =
  (ports: Ports): Pipeline =>
  (exchange) =>
    defer(() => {
      const filter = readFilter(exchange, new URLSearchParams(exchange.query));
      const count = ports.catalog.list().filter(filter).length; // 502 503
      return of(jsonReply({ data: { count } }));
    });
