/** Routes of embeddings. */
import { EmbeddingsRequest, EmbeddingsResponse } from '../../schemas/embeddings.ts';
import { ModelList, PageQuery } from '../../schemas/model-entry.ts';
import { json } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { embeddingModels } from '../models/list.ts';
import { generationErrors, type Route } from '../route.ts';
import { embeddings } from './embeddings.ts';

export const embeddingsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'GET',
    path: '/embeddings/models',
    access: 'public',
    pipeline: embeddingModels(ports),
    doc: {
      tag: 'Models',
      summary: 'Embedding models',
      query: PageQuery,
      response: json(ModelList),
      errors: [400, 502, 503],
    },
  },
  {
    method: 'POST',
    path: '/embeddings',
    bodyLimit: 16 * 1024 * 1024,
    pipeline: admitBeforeBody(ports, 'embedding', embeddings(ports)),
    doc: {
      tag: 'Embeddings',
      summary: 'A vector for each input, in input order',
      body: json(EmbeddingsRequest),
      response: json(EmbeddingsResponse),
      errors: generationErrors,
    },
  },
];
