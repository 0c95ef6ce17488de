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
import type { Route } from '../route.ts';
import { messagesCountTokens } from './count-tokens.ts';
import { messages } from './messages.ts';

const tag = 'Messages';
/** Images come as base64. */
const bodyLimit = 128 * 1024 * 1024;

export const messagesRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/messages',
    access: 'key',
    bodyLimit,
    errors: 'messages',
    pipeline: messages(ports),
    doc: {
      tag,
      summary: 'A message in the messages format: one answer, or events as it is generated',
      body: json(MessagesRequest),
      answer: { ...json(Message), 'text/event-stream': MessageEvent },
      errors: [400, 404, 413, 429, 502, 503, 504],
    },
  },
  {
    method: 'POST',
    path: '/messages/count_tokens',
    access: 'key',
    bodyLimit,
    errors: 'messages',
    pipeline: messagesCountTokens(ports),
    doc: {
      tag,
      summary: 'How many tokens a request would put in; nothing is generated or billed',
      body: json(CountTokensRequest),
      answer: json(TokenCount),
      errors: [400, 404, 413, 502, 503],
    },
  },
];
