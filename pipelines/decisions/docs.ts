/** The decisions route in words and schemas, for the OpenAPI document. */
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import { DecisionsRequest, DecisionsResponse } from '../../schemas/systemone.ts';

export const decisionDocs = {
  decide: {
    tag: 'Decisions',
    summary: 'Questions about a state, each answered as a probability distribution',
    body: json(DecisionsRequest),
    answer: json(DecisionsResponse),
    errors: [404, 413, 422, 429, 502, 529],
  },
} as const satisfies Record<string, RouteDoc>;
