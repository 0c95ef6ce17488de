/** Route of chat completions. */
import { ChatChunk, ChatCompletion, ChatRequest } from '../../schemas/chat.ts';
import { json } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, mediaBodyLimit, type Route, resumableHeaders } from '../route.ts';
import { chatCompletions } from './completions.ts';

export const chatRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/chat/completions',
    bodyLimit: mediaBodyLimit,
    pipeline: admitBeforeBody(ports, 'chat', chatCompletions(ports)),
    doc: {
      tag: 'Chat',
      summary: 'A chat completion: one answer, or chunks as they are generated',
      headers: resumableHeaders,
      body: json(ChatRequest),
      response: { ...json(ChatCompletion), 'text/event-stream': ChatChunk },
      errors: generationErrors,
    },
  },
];
