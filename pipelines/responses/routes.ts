/** The responses format: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { responsesDocs } from './docs.ts';
import { responses } from './responses.ts';

export const responsesRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/responses',
    access: 'key',
    // Images, sound and documents come as base64.
    bodyLimit: 128 * 1024 * 1024,
    pipeline: responses(ports),
    doc: responsesDocs.create,
  },
];
