/** Decision questions: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { decisionDocs } from './docs.ts';
import { systemOne } from './systemone.ts';

export const decisionsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/systemone',
    access: 'key',
    bodyLimit: 16 * 1024 * 1024,
    pipeline: systemOne(ports),
    doc: decisionDocs.decide,
  },
];
