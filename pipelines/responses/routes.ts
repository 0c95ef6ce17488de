/** Route of the responses format. */
import { json } from '../../schemas/openapi.ts';
import { Response, ResponseEvent, ResponsesRequest } from '../../schemas/responses.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, mediaBodyLimit, type Route } from '../route.ts';
import { responses } from './responses.ts';

export const responsesRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/responses',
    bodyLimit: mediaBodyLimit,
    pipeline: admitBeforeBody(ports, 'chat', responses(ports)),
    doc: {
      tag: 'Responses',
      summary: 'A response: whole, or as events while it is generated; nothing is stored',
      body: json(ResponsesRequest),
      response: { ...json(Response), 'text/event-stream': ResponseEvent },
      errors: generationErrors,
    },
  },
];
