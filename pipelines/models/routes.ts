/** Routes of the model catalog. */
import Type from 'typebox';
import {
  modelCountExamples,
  modelExamples,
  modelListExamples,
  publicModelExamples,
} from '../../schemas/examples/models.ts';
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

const VersionHeader = Type.Object({
  'anthropic-version': Type.Optional(
    Type.String({
      description: 'Any value asks for the messages format',
      examples: ['2023-06-01'],
    }),
  ),
});

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
      summary: 'List models',
      description:
        'The models on offer, in the order of the catalog; filters narrow them down. Clients of OpenRouter, and `format=openrouter`, get text models unless they filter by output. With an `anthropic-version` header: the chat models in the messages format, each under its own id and under `anthropic/<id>`. Needs no key.',
      headers: VersionHeader,
      examples: modelListExamples,
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
      summary: 'Count models',
      description: 'How many models `GET /models` would list with the same filters. Needs no key.',
      examples: modelCountExamples,
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
      summary: 'Get a model by its id',
      description:
        'One model as the list shows it. Ids are case-sensitive. With an `anthropic-version` header: the model in the messages format, if it is a chat model; errors then have the shape of that format too.',
      params: Type.Object({
        id: Type.String({ description: 'Id of the model', examples: ['sluice/chat'] }),
      }),
      headers: VersionHeader,
      examples: modelExamples,
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
      summary: 'Get a model by any of its names',
      description:
        'One model by its id, by its Hugging Face id in any case, or by a former id that leads to its successor. A `:variant` suffix is ignored, and so is the author. Needs no key.',
      params: Type.Object({
        author: Type.String({ description: 'Any value: only the slug is looked up', examples: ['sluice'] }),
        slug: Type.String({ description: 'A name of the model', examples: ['chat'] }),
      }),
      examples: publicModelExamples,
      response: json(ModelResponse),
      errors: [400, 404, 502, 503],
    },
  },
];
