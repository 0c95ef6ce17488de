/** Route of rerank models. */
import { rerankExamples } from '../../schemas/examples/texts.ts';
import { json } from '../../schemas/openapi.ts';
import { RerankRequest, RerankResponse } from '../../schemas/rerank.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { callHeaders, generationErrors, type Route } from '../route.ts';
import { rerank } from './rerank.ts';

export const rerankRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/rerank',
    bodyLimit: 16 * 1024 * 1024,
    pipeline: admitBeforeBody(ports, 'rerank', rerank(ports)),
    doc: {
      tag: 'Rerank',
      summary: 'Rerank documents',
      description:
        'Orders up to 1000 documents by their relevance to a query, the most relevant first. Documents that are too long beside the query are truncated. The query is read, and billed, once for each document; `top_n` does not change that.',
      body: json(RerankRequest),
      examples: rerankExamples,
      replyHeaders: callHeaders,
      response: json(RerankResponse),
      errors: generationErrors,
    },
  },
];
