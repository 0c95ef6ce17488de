/** Routes of embeddings. */
import { EmbeddingsRequest, EmbeddingsResponse } from '../../schemas/embeddings.ts';
import { embeddingModelsExamples } from '../../schemas/examples/models.ts';
import { embeddingsExamples } from '../../schemas/examples/texts.ts';
import { ModelList, PageQuery } from '../../schemas/model-entry.ts';
import { json } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { embeddingModels } from '../models/list.ts';
import { callHeaders, generationErrors, type Route } from '../route.ts';
import { embeddings } from './embeddings.ts';

export const embeddingsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'GET',
    path: '/embeddings/models',
    access: 'public',
    pipeline: embeddingModels(ports),
    doc: {
      tag: 'Models',
      summary: 'List embedding models',
      description:
        'The embedding models on offer, with their context length and their price per input token in `pricing.prompt`. Needs no key.',
      examples: embeddingModelsExamples,
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
      summary: 'Embed texts',
      description:
        'Returns a vector for each of up to 2048 inputs, in input order. Texts that are longer than the model reads are truncated. `input_type: search_query` puts the query instruction of models that have one before each text. Billed by the tokens read, the instruction included.',
      body: json(EmbeddingsRequest),
      examples: embeddingsExamples,
      replyHeaders: callHeaders,
      response: json(EmbeddingsResponse),
      errors: generationErrors,
    },
  },
];
