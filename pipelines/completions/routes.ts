/** Route of text completions. */
import { CompletionRequest, TextCompletion, TextCompletionChunk } from '../../schemas/completions.ts';
import { completionsExamples } from '../../schemas/examples/chat.ts';
import { json } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { callHeaders, generationErrors, type Route, resumableHeaders, resumableReply } from '../route.ts';
import { completions } from './completions.ts';

const bodyLimit = 16 * 1024 * 1024;

export const completionsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/completions',
    bodyLimit,
    pipeline: admitBeforeBody(ports, 'chat', completions(ports)),
    doc: {
      tag: 'Chat',
      summary: 'Complete a text',
      description:
        'Continues one text or several, for clients of the older format; for chats use `/chat/completions`. Prompts times `n` may be 128. With several prompts the choices are numbered through. `suffix` is a 400. Billed by the tokens of prompts and completions.',
      headers: resumableHeaders,
      body: json(CompletionRequest),
      examples: completionsExamples,
      replyHeaders: [...callHeaders, ...resumableReply],
      response: { ...json(TextCompletion), 'text/event-stream': TextCompletionChunk },
      errors: generationErrors,
    },
  },
];
