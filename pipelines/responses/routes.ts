/** Route of the responses format. */
import Type from 'typebox';
import {
  cancelResponseExamples,
  deleteResponseExamples,
  getResponseExamples,
  responsesExamples,
} from '../../schemas/examples/responses.ts';
import { json } from '../../schemas/openapi.ts';
import { ResponseEvent } from '../../schemas/responses/events.ts';
import { ResponsesRequest } from '../../schemas/responses/request.ts';
import { Response, ResponseDeleted } from '../../schemas/responses/response.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import {
  callHeaders,
  generationErrors,
  mediaBodyLimit,
  type Route,
  resumableHeaders,
  resumableReply,
} from '../route.ts';
import { cancelResponse, deleteResponse, getResponse, responsePrefix } from './background.ts';
import { responses } from './responses.ts';

const ResponseId = Type.Object({
  id: Type.String({
    description: 'Id of a response in the background',
    examples: ['resp_65a9a358806c904eec1b8c98j'],
  }),
});

export const responsesRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/responses',
    bodyLimit: mediaBodyLimit,
    pipeline: admitBeforeBody(ports, 'chat', responses(ports)),
    doc: {
      tag: 'Responses',
      summary: 'Create a response',
      description:
        'Chat in the responses format: whole, or with `stream` as events. Nothing is stored: send the conversation in `input`, with the items of earlier responses as they came. Tools that do not run here, such as `web_search`, are accepted and not sent to the model. With `background` it goes on without its client for a while. A stream that fails ends with `error` and `response.failed`. Billed by the tokens of prompt and completion.',
      examples: responsesExamples,
      replyHeaders: [...callHeaders, ...resumableReply],
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
      summary: 'Get a response',
      description:
        'A response that was requested with `background`: what it began with while it runs, all of it once it has ended. With `stream=true`: its events after `starting_after`, then those still to come. 404 once it is no longer kept, 410 when the next event is not.',
      params: ResponseId,
      examples: getResponseExamples,
      query: Type.Object({
        stream: Type.Optional(Type.Boolean({ description: 'Events instead of the response as it is' })),
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
      summary: 'Delete a response',
      description: 'Cancels a response in the background if it still runs, and removes it.',
      params: ResponseId,
      examples: deleteResponseExamples,
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
      summary: 'Cancel a response',
      description:
        'Stops a response in the background and returns it; one that has ended stays as it is. What was generated is billed.',
      params: ResponseId,
      examples: cancelResponseExamples,
      response: json(Response),
      errors: [404, 503],
    },
  },
];
