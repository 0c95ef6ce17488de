/** The catalog's routes and health in words and schemas, for the OpenAPI document. */
import Type from 'typebox';
import { Health } from '../../schemas/health.ts';
import {
  MessagesModel,
  MessagesModelList,
  ModelAnswer,
  ModelCount,
  ModelCountQuery,
  ModelEntry,
  ModelList,
  ModelListQuery,
  PageQuery,
} from '../../schemas/model-entry.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';

const tag = 'Models';

export const modelDocs = {
  list: {
    tag,
    summary: 'Models on offer; with the messages-format version header, its chat models in that format',
    query: ModelListQuery,
    answer: json(Type.Union([ModelList, MessagesModelList])),
    errors: [400, 502, 503],
  },
  count: {
    tag,
    summary: 'Number of models the list would have',
    query: ModelCountQuery,
    answer: json(ModelCount),
    errors: [502, 503],
  },
  get: {
    tag,
    summary: 'One model by the id the list shows',
    answer: json(Type.Union([ModelEntry, MessagesModel])),
    errors: [400, 404, 502, 503],
  },
  bySlug: {
    tag,
    summary: 'One model by any of its public names',
    answer: json(ModelAnswer),
    errors: [400, 404, 502, 503],
  },
  embedding: {
    tag,
    summary: 'Embedding models',
    query: PageQuery,
    answer: json(ModelList),
    errors: [400, 502, 503],
  },
} as const satisfies Record<string, RouteDoc>;

export const serviceDocs = {
  health: { tag: 'Service', summary: 'How the gateway is doing', answer: json(Health), errors: [503] },
  openapi: {
    tag: 'Service',
    summary: 'This document',
    answer: json(Type.Object({}, { description: 'OpenAPI 3.1' })),
  },
} as const satisfies Record<string, RouteDoc>;
