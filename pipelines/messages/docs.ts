/** The messages routes in words and schemas, for the OpenAPI document. */
import {
  CountTokensRequest,
  Message,
  MessageEvent,
  MessagesRequest,
  TokenCount,
} from '../../schemas/messages.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';

export const messagesDocs = {
  create: {
    tag: 'Messages',
    summary: 'A message in the messages format: one answer, or events as it is generated',
    body: json(MessagesRequest),
    answer: { ...json(Message), 'text/event-stream': MessageEvent },
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
  countTokens: {
    tag: 'Messages',
    summary: 'How many tokens a request would put in; nothing is generated or billed',
    body: json(CountTokensRequest),
    answer: json(TokenCount),
    errors: [400, 404, 413, 502, 503],
  },
} as const satisfies Record<string, RouteDoc>;
