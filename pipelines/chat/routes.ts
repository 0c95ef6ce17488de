/** Chat completions: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { chatCompletions } from './completions.ts';
import { chatDocs } from './docs.ts';

export const chatRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/chat/completions',
    access: 'key',
    // Images, sound and documents come as base64.
    bodyLimit: 128 * 1024 * 1024,
    pipeline: chatCompletions(ports),
    doc: chatDocs.completions,
  },
];
