/** Routes of resumable streams. */
import Type from 'typebox';
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { deleteStream, getStream } from './streams.ts';

export const streamsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'GET',
    path: '/streams/{id}',
    pipeline: getStream(ports),
    doc: {
      tag: 'Streams',
      summary:
        'The events of a resumable stream after `Last-Event-ID` or `after`, then those still to come; 204 when there are none',
      query: Type.Object({
        after: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'Number of the last event received; without it, all of them',
          }),
        ),
      }),
      headers: Type.Object({
        'Last-Event-ID': Type.Optional(Type.String({ description: 'The same; it wins over `after`' })),
      }),
      orNothing: true,
      response: { 'text/event-stream': Type.Unknown({ description: 'Events as the request began them' }) },
      errors: [400, 404, 410, 503],
    },
  },
  {
    method: 'DELETE',
    path: '/streams/{id}',
    pipeline: deleteStream(ports),
    doc: {
      tag: 'Streams',
      summary: 'Cancels a resumable stream, and removes it',
      status: 204,
      errors: [404, 503],
    },
  },
];
