/** The chat routes in words and schemas, for the OpenAPI document. */
import { ChatChunk, ChatCompletion, ChatRequest } from '../../schemas/chat.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';

export const chatDocs = {
  completions: {
    tag: 'Chat',
    summary: 'A chat completion: one answer, or chunks as they are generated',
    body: json(ChatRequest),
    answer: { ...json(ChatCompletion), 'text/event-stream': ChatChunk },
    errors: [400, 404, 413, 429, 502, 503, 504],
  },
} as const satisfies Record<string, RouteDoc>;
