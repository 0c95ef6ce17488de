/** Route of decisions. */
import { json } from '../../schemas/openapi.ts';
import { DecisionsRequest, DecisionsResponse } from '../../schemas/systemone.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import type { Route } from '../route.ts';
import { decisionError, systemOne } from './systemone.ts';

export const decisionsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/systemone',
    bodyLimit: 16 * 1024 * 1024,
    pipeline: admitBeforeBody(ports, 'decision', systemOne(ports), decisionError),
    doc: {
      tag: 'Decisions',
      summary: 'Questions about a state, each answered as a probability distribution',
      body: json(DecisionsRequest),
      response: json(DecisionsResponse),
      errors: [404, 413, 422, 429, 502, 529],
    },
  },
];
