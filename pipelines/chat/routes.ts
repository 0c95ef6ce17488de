/** Route of chat completions. */
import { ChatRequest } from '../../schemas/chat/request.ts';
import { ChatChunk, ChatCompletion } from '../../schemas/chat/response.ts';
import { chatExamples } from '../../schemas/examples/chat.ts';
import { json } from '../../schemas/openapi.ts';
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
import { chatCompletions } from './completions.ts';

export const chatRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/chat/completions',
    bodyLimit: mediaBodyLimit,
    pipeline: admitBeforeBody(ports, 'chat', chatCompletions(ports)),
    doc: {
      tag: 'Chat',
      summary: 'Complete a chat',
      description:
        'Answers a conversation: whole, or with `stream` in chunks as they are generated, ended by `[DONE]`. A last message of the assistant is continued. Reasoning is in `reasoning`, tool calls are in `tool_calls`. Usage is on the last chunk. A failure before the first token has its own status; a later one ends the stream with a chunk that has an `error`. Billed by the tokens of prompt and completion; failures are not billed.',
      headers: resumableHeaders,
      body: json(ChatRequest),
      examples: chatExamples,
      replyHeaders: [...callHeaders, ...resumableReply],
      response: { ...json(ChatCompletion), 'text/event-stream': ChatChunk },
      errors: generationErrors,
    },
  },
];
