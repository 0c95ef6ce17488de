/** Routes of a subscription's own account, and of the service itself. */
import Type from 'typebox';
import { Health } from '../../schemas/health.ts';
import { json } from '../../schemas/openapi.ts';
import { UsageList, UsageQuery } from '../../schemas/usage.ts';
import { WebhookSecret } from '../../schemas/webhooks.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { health } from './health.ts';
import { openapi } from './openapi.ts';
import { usage } from './usage.ts';
import { webhooksSecret, webhooksSecretRotate } from './webhooks.ts';

export const accountRoutes = (ports: Ports, table: () => readonly Route[]): readonly Route[] => [
  {
    method: 'GET',
    path: '/usage',
    pipeline: usage(ports),
    doc: {
      tag: 'Usage',
      summary: 'What the subscription of the key has used and what it costs, in totals or request by request',
      query: UsageQuery,
      response: json(UsageList),
      errors: [400, 503],
    },
  },
  {
    method: 'GET',
    path: '/webhooks/secret',
    pipeline: webhooksSecret(ports),
    doc: {
      tag: 'Webhooks',
      summary: 'The secret that signs the subscription’s webhooks, made at the first call',
      response: json(WebhookSecret),
      errors: [503],
    },
  },
  {
    method: 'POST',
    path: '/webhooks/secret/rotate',
    pipeline: webhooksSecretRotate(ports),
    doc: {
      tag: 'Webhooks',
      summary: 'A new secret; the one before signs too for 24 hours, the one before that no longer',
      response: json(WebhookSecret),
      errors: [409, 503],
    },
  },
  {
    method: 'GET',
    path: '/health',
    pipeline: health(ports),
    doc: { tag: 'Service', summary: 'How the gateway is doing', response: json(Health), errors: [503] },
  },
  {
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    pipeline: openapi(ports, table),
    doc: {
      tag: 'Service',
      summary: 'This document',
      response: json(Type.Object({}, { description: 'OpenAPI 3.1' })),
    },
  },
];
