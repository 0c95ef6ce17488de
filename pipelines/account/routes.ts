/** Routes of a subscription's own account, and of the service itself. */
import Type from 'typebox';
import {
  healthExamples,
  openapiExamples,
  rotateExamples,
  secretExamples,
  usageExamples,
} from '../../schemas/examples/account.ts';
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
      summary: 'Get the usage of the subscription',
      description:
        'What the subscription of the key has used and what it costs, in totals or request by request, with what its vector stores hold. Follow `links.next` for further pages.',
      examples: usageExamples,
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
      summary: 'Get the webhook secret',
      description:
        'The secret that signs the webhooks of the subscription; the first call creates it. A delivery has a signature `t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 over `<t>.<raw body>`, keyed with the whole secret.',
      examples: secretExamples,
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
      summary: 'Rotate the webhook secret',
      description:
        'Creates a new secret. The previous one signs too for 24 hours, so that deliveries have two signatures; rotating again within that time retires it at once.',
      examples: rotateExamples,
      response: json(WebhookSecret),
      errors: [409, 503],
    },
  },
  {
    method: 'GET',
    path: '/health',
    pipeline: health(ports),
    doc: {
      tag: 'Service',
      summary: 'Check health',
      description:
        'Whether the catalog, the engines and the storage work. 200 while requests can be served, `degraded` included; 503 when they cannot.',
      examples: healthExamples,
      response: json(Health),
      errors: [503],
    },
  },
  {
    method: 'GET',
    path: '/openapi.json',
    access: 'public',
    pipeline: openapi(ports, table),
    doc: {
      tag: 'Service',
      summary: 'Get this document',
      description: 'The API as OpenAPI 3.1. Needs no key.',
      examples: openapiExamples,
      response: json(Type.Object({}, { description: 'OpenAPI 3.1' })),
    },
  },
];
