/** The webhook secret routes in words and schemas, for the OpenAPI document. */
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import { WebhookSecret } from '../../schemas/webhooks.ts';

export const webhookDocs = {
  secret: {
    tag: 'Webhooks',
    summary: 'The secret that signs the subscription’s webhooks, made at the first call',
    answer: json(WebhookSecret),
    errors: [503],
  },
  rotate: {
    tag: 'Webhooks',
    summary: 'A new secret; the one before signs too for 24 hours, the one before that no longer',
    answer: json(WebhookSecret),
    errors: [409, 503],
  },
} as const satisfies Record<string, RouteDoc>;
