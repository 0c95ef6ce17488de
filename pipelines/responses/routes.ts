/** Route of the responses format. */
import Type from 'typebox';
import { json } from '../../schemas/openapi.ts';
import { Response, ResponseDeleted, ResponseEvent, ResponsesRequest } from '../../schemas/responses.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, mediaBodyLimit, type Route, resumableHeaders } from '../route.ts';
import { cancelResponse, deleteResponse, getResponse, responsePrefix } from './background.ts';
import { responses } from './responses.ts';

export const responsesRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/responses',
    bodyLimit: mediaBodyLimit,
    pipeline: admitBeforeBody(ports, 'chat', responses(ports)),
    doc: {
      tag: 'Responses',
      summary: 'A response: whole, as events while it is generated, or in the background for a while',
      headers: resumableHeaders,
      body: json(ResponsesRequest),
      response: { ...json(Response), 'text/event-stream': ResponseEvent },
      errors: generationErrors,
    },
  },
  {
    method: 'GET',
    path: '/responses/{id}',
    idPrefix: responsePrefix,
    pipeline: getResponse(ports),
    doc: {
      tag: 'Responses',
      summary: 'A response in the background: as it is now, or its events from one on',
      query: Type.Object({
        stream: Type.Optional(Type.Boolean()),
        starting_after: Type.Optional(
          Type.Integer({ minimum: 0, description: '`sequence_number` of the last event received' }),
        ),
      }),
      response: { ...json(Response), 'text/event-stream': ResponseEvent },
      errors: [400, 404, 410, 503],
    },
  },
  {
    method: 'DELETE',
    path: '/responses/{id}',
    idPrefix: responsePrefix,
    pipeline: deleteResponse(ports),
    doc: {
      tag: 'Responses',
      summary: 'Cancels and forgets a response in the background',
      response: json(ResponseDeleted),
      errors: [404, 503],
    },
  },
  {
    method: 'POST',
    path: '/responses/{id}/cancel',
    idPrefix: responsePrefix,
    pipeline: cancelResponse(ports),
    doc: {
      tag: 'Responses',
      summary: 'Cancels a response in the background; one that has ended stays as it is',
      response: json(Response),
      errors: [404, 503],
    },
  },
];
