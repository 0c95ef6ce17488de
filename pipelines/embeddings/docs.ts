/** The embeddings route in words and schemas, for the OpenAPI document. */
import { EmbeddingsRequest, EmbeddingsResponse } from '../../schemas/embeddings.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';

export const embeddingDocs = {
  create: {
    tag: 'Embeddings',
    summary: 'A vector for each input, in input order',
    body: json(EmbeddingsRequest),
    answer: json(EmbeddingsResponse),
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
} as const satisfies Record<string, RouteDoc>;
