/** The public model catalog: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { modelDocs } from './docs.ts';
import { modelDialect } from './model-dialect.ts';
import { modelGet } from './model-get.ts';
import { modelsCount } from './models-count.ts';
import { modelsGet } from './models-get.ts';
import { modelsList } from './models-list.ts';

export const modelsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'GET',
    path: '/models',
    access: 'public',
    bodyLimit: 0,
    errors: modelDialect,
    pipeline: modelsList(ports),
    doc: modelDocs.list,
  },
  {
    method: 'GET',
    path: '/models/count',
    access: 'public',
    bodyLimit: 0,
    errors: modelDialect,
    pipeline: modelsCount(ports),
    doc: modelDocs.count,
  },
  {
    method: 'GET',
    path: '/models/{id+}',
    access: 'key',
    bodyLimit: 0,
    errors: modelDialect,
    pipeline: modelsGet(ports),
    doc: modelDocs.get,
  },
  {
    method: 'GET',
    path: '/model/{author}/{slug+}',
    access: 'public',
    bodyLimit: 0,
    pipeline: modelGet(ports),
    doc: modelDocs.bySlug,
  },
];
