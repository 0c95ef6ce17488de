/** Route of text completions. */
import { CompletionRequest, TextCompletion, TextCompletionChunk } from '../../schemas/completions.ts';
import { json } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, type Route, resumableHeaders } from '../route.ts';
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
      summary: 'Continues texts: one answer, or chunks as they are generated',
      headers: resumableHeaders,
      body: json(CompletionRequest),
      response: { ...json(TextCompletion), 'text/event-stream': TextCompletionChunk },
      errors: generationErrors,
    },
  },
];
