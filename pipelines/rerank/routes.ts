/** Route of rerank models. */
import { json } from '../../schemas/openapi.ts';
import { RerankRequest, RerankResponse } from '../../schemas/rerank.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, type Route } from '../route.ts';
import { rerank } from './rerank.ts';

export const rerankRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/rerank',
    bodyLimit: 16 * 1024 * 1024,
    pipeline: admitBeforeBody(ports, 'rerank', rerank(ports)),
    doc: {
      tag: 'Rerank',
      summary: 'Documents by their relevance to a query',
      body: json(RerankRequest),
      response: json(RerankResponse),
      errors: generationErrors,
    },
  },
];
