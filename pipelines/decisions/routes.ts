/** Route of decisions. */
import { decisionsExamples } from '../../schemas/examples/texts.ts';
import { json } from '../../schemas/openapi.ts';
import { DecisionsRequest, DecisionsResponse } from '../../schemas/systemone.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { callHeaders, type Route } from '../route.ts';
import { decisionError, systemOne } from './systemone.ts';

export const decisionsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/systemone',
    bodyLimit: 16 * 1024 * 1024,
    pipeline: admitBeforeBody(ports, 'decision', systemOne(ports), decisionError),
    doc: {
      tag: 'Decisions',
      summary: 'Answer typed questions',
      description:
        'Reads a state and answers up to 64 questions about it, each as a probability distribution over the allowed answers; no text is generated. `noul` gives the probability of yes, `choice` the likeliest option, `score` a level that may lie between two. Validation errors are a 422 here, as are inputs longer than the model reads. State, question and options are billed as input tokens for each question.',
      body: json(DecisionsRequest),
      examples: decisionsExamples,
      replyHeaders: callHeaders,
      response: json(DecisionsResponse),
      errors: [404, 413, 422, 429, 502, 529],
    },
  },
];
