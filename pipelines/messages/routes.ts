/** The messages format: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { messagesCountTokens } from './count-tokens.ts';
import { messagesDocs } from './docs.ts';
import { messages } from './messages.ts';

export const messagesRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/messages',
    access: 'key',
    // Images come as base64.
    bodyLimit: 128 * 1024 * 1024,
    errors: 'messages',
    pipeline: messages(ports),
    doc: messagesDocs.create,
  },
  {
    method: 'POST',
    path: '/messages/count_tokens',
    access: 'key',
    bodyLimit: 128 * 1024 * 1024,
    errors: 'messages',
    pipeline: messagesCountTokens(ports),
    doc: messagesDocs.countTokens,
  },
];
