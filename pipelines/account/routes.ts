/** What belongs to the caller's subscription, and the service itself: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import { serviceDocs } from '../models/docs.ts';
import type { Route } from '../route.ts';
import { health } from './health.ts';
import { openapi } from './openapi.ts';
import { usage } from './usage.ts';
import { usageDocs } from './usage-docs.ts';
import { webhookDocs } from './webhook-docs.ts';
import { webhooksSecret } from './webhooks-secret.ts';
import { webhooksSecretRotate } from './webhooks-secret-rotate.ts';

export const accountRoutes = (ports: Ports, table: () => readonly Route[]): readonly Route[] => [
  {
    method: 'GET',
    path: '/usage',
    access: 'key',
    bodyLimit: 0,
    pipeline: usage(ports),
    doc: usageDocs.usage,
  },
  {
    method: 'GET',
    path: '/webhooks/secret',
    access: 'key',
    bodyLimit: 0,
    pipeline: webhooksSecret(ports),
    doc: webhookDocs.secret,
  },
  {
    method: 'POST',
    path: '/webhooks/secret/rotate',
    access: 'key',
    bodyLimit: 0,
    pipeline: webhooksSecretRotate(ports),
    doc: webhookDocs.rotate,
  },
  {
    method: 'GET',
    path: '/health',
    access: 'key',
    bodyLimit: 0,
    pipeline: health(ports),
    doc: serviceDocs.health,
  },
  {
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    bodyLimit: 0,
    pipeline: openapi(ports, table),
    doc: serviceDocs.openapi,
  },
];
