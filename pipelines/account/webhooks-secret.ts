/** GET /webhooks/secret: who asks in; the secret that signs the subscription's webhooks out, made at first use. */
import { defer, map } from 'rxjs';
import type { WebhookSecret } from '../../schemas/webhooks.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { SecretView } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';

export const webhooksSecret =
  ({ webhookSecrets }: Ports): KeyedPipeline =>
  (_exchange, { subscription }) =>
    defer(() => webhookSecrets.current(subscription)).pipe(map(secretAnswer)); // 503

export const secretAnswer = ({ secret, createdAt, previousExpiresAt }: SecretView) => {
  const body: WebhookSecret = {
    object: 'webhook.secret',
    secret,
    signing_secret: secret,
    created_at: seconds(createdAt),
    previous_secret_expires_at: previousExpiresAt === undefined ? null : seconds(previousExpiresAt),
  };
  return jsonReply(body, 200, { 'cache-control': 'no-store' });
};

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);
