/** Routes of the messages format. */
import {
  CountTokensRequest,
  Message,
  MessageEvent,
  MessagesRequest,
  TokenCount,
} from '../../schemas/messages.ts';
import { json } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, mediaBodyLimit, type Route, resumableHeaders } from '../route.ts';
import { messagesCountTokens } from './count-tokens.ts';
import { messages } from './messages.ts';

const tag = 'Messages';

export const messagesRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/messages',
    bodyLimit: mediaBodyLimit,
    errors: 'messages',
    pipeline: admitBeforeBody(ports, 'chat', messages(ports)),
    doc: {
      tag,
      summary: 'A message in the messages format: one answer, or events as it is generated',
      headers: resumableHeaders,
      body: json(MessagesRequest),
      response: { ...json(Message), 'text/event-stream': MessageEvent },
      errors: generationErrors,
    },
  },
  {
    method: 'POST',
    path: '/messages/count_tokens',
    bodyLimit: mediaBodyLimit,
    errors: 'messages',
    pipeline: admitBeforeBody(ports, 'chat', messagesCountTokens(ports)),
    doc: {
      tag,
      summary:
        'How many tokens a request would put in; nothing is generated or billed, but it counts as a request',
      body: json(CountTokensRequest),
      response: json(TokenCount),
      errors: [400, 404, 413, 429, 502, 503],
    },
  },
];
