/** Routes of resumable streams. */
import Type from 'typebox';
import { streamExamples } from '../../schemas/examples/chat.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { deleteStream, getStream } from './streams.ts';

const StreamId = Type.Object({
  id: Type.String({
    description: 'The `x-stream-id` of the response that began the stream',
    examples: ['stream_65a9a358806c904eec1b8c9f4'],
  }),
});

export const streamsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'GET',
    path: '/streams/{id}',
    pipeline: getStream(ports),
    doc: {
      tag: 'Streams',
      summary: 'Read on in a stream',
      description:
        'The events of a resumable stream after `Last-Event-ID` or `after`, then those still to come. Streams are resumable with the header `Sluice-Resumable`, or `stream_options.resumable` on chat and text completions; their events have ids. 204 when nothing is left, 404 when there is no such stream or its time is over, 410 when the next event is no longer kept.',
      params: StreamId,
      examples: streamExamples,
      query: Type.Object({
        after: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'Number of the last event received; without it, all of them',
          }),
        ),
      }),
      headers: Type.Object({
        'Last-Event-ID': Type.Optional(
          Type.String({ description: 'The same as `after`, and wins over it', examples: ['1'] }),
        ),
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
      summary: 'Cancel a stream',
      description: 'Stops a resumable stream and removes it. What was generated until then is billed.',
      params: StreamId,
      status: 204,
      errors: [404, 503],
    },
  },
];
