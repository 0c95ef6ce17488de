/** Routes of the messages format. */
import { countTokensExamples, messagesExamples } from '../../schemas/examples/messages.ts';
import { CountTokensRequest, MessagesRequest } from '../../schemas/messages/request.ts';
import { Message, MessageEvent, TokenCount } from '../../schemas/messages/response.ts';
import { json } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import {
  generationErrors,
  mediaBodyLimit,
  messagesCallHeaders,
  type Route,
  resumableHeaders,
  resumableReply,
} from '../route.ts';
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
      summary: 'Create a message',
      description:
        'Chat in the messages format, for the SDKs of that format. Thinking is shown only where `thinking` asks for it, and is signed: send it back as it came. Tool results go in `tool_result` blocks of later `user` messages. Server tools and threads are a 400. A stream that fails ends with an `error` event and `message_stop`. Billed by the tokens of prompt and completion.',
      examples: messagesExamples,
      replyHeaders: [...messagesCallHeaders, ...resumableReply],
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
      summary: 'Count the tokens of a message',
      description:
        'Counts the prompt of a request to `POST /messages` without generating anything. Documents are read and counted; images count the same whatever they show. Counts for limits, and is not billed.',
      examples: countTokensExamples,
      replyHeaders: messagesCallHeaders,
      body: json(CountTokensRequest),
      response: json(TokenCount),
      errors: [400, 404, 413, 429, 502, 503],
    },
  },
];
