/** Embeddings: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import { modelDocs } from '../models/docs.ts';
import type { Route } from '../route.ts';
import { embeddingDocs } from './docs.ts';
import { embeddings } from './embeddings.ts';
import { embeddingModels } from './models.ts';

export const embeddingsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'GET',
    path: '/embeddings/models',
    access: 'public',
    bodyLimit: 0,
    pipeline: embeddingModels(ports),
    doc: modelDocs.embedding,
  },
  {
    method: 'POST',
    path: '/embeddings',
    access: 'key',
    bodyLimit: 16 * 1024 * 1024,
    pipeline: embeddings(ports),
    doc: embeddingDocs.create,
  },
];
