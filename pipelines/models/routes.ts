/** Routes of the model catalog. */
import Type from 'typebox';
import {
  MessagesModel,
  MessagesModelList,
  ModelCount,
  ModelCountQuery,
  ModelEntry,
  ModelList,
  ModelListQuery,
  ModelResponse,
} from '../../schemas/model-entry.ts';
import { json } from '../../schemas/openapi.ts';
import type { ErrorDialect } from '../../src/errors.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { modelGet, modelsGet } from './get.ts';
import { modelsCount, modelsList } from './list.ts';

const tag = 'Models';

/** Any version header means the messages format. */
export const modelDialect = (header: Exchange['header']): ErrorDialect =>
  header('anthropic-version') === '' ? 'envelope' : 'messages';

export const modelsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'GET',
    path: '/models',
    access: 'public',
    errors: modelDialect,
    pipeline: modelsList(ports),
    doc: {
      tag,
      summary: 'Models on offer; with the messages-format version header, its chat models in that format',
      query: ModelListQuery,
      response: json(Type.Union([ModelList, MessagesModelList])),
      errors: [400, 502, 503],
    },
  },
  {
    method: 'GET',
    path: '/models/count',
    access: 'public',
    errors: modelDialect,
    pipeline: modelsCount(ports),
    doc: {
      tag,
      summary: 'Number of models the list would have',
      query: ModelCountQuery,
      response: json(ModelCount),
      errors: [502, 503],
    },
  },
  {
    method: 'GET',
    path: '/models/{id+}',
    errors: modelDialect,
    pipeline: modelsGet(ports),
    doc: {
      tag,
      summary: 'One model by the id the list shows',
      response: json(Type.Union([ModelEntry, MessagesModel])),
      errors: [400, 404, 502, 503],
    },
  },
  {
    method: 'GET',
    path: '/model/{author}/{slug+}',
    access: 'public',
    pipeline: modelGet(ports),
    doc: {
      tag,
      summary: 'One model by any of its public names',
      response: json(ModelResponse),
      errors: [400, 404, 502, 503],
    },
  },
];
