/** GET /webhooks/secret and POST /webhooks/secret/rotate: the secret that signs a subscription's webhooks. */
import { from } from 'rxjs';
import type { WebhookSecret } from '../../schemas/webhooks.ts';
import {
  jsonReply,
  type KeyedPipeline,
  type KeyedRequest,
  type WholeReply,
} from '../../src/ports/exchange.ts';
import type { SecretView, WebhookSecrets } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import type { Step } from '../core/stage.ts';

export const webhooksSecret = ({ webhookSecrets }: Ports): KeyedPipeline =>
  compose(
    currentSecret(webhookSecrets), // 503
    replySecret,
  );

export const webhooksSecretRotate = ({ webhookSecrets }: Ports): KeyedPipeline =>
  compose(
    rotateSecret(webhookSecrets), // 409 503
    replySecret,
  );

const currentSecret =
  (secrets: WebhookSecrets): Step<unknown, SecretView, KeyedRequest> =>
  (_, { caller }) =>
    from(secrets.current(caller.subscription));

const rotateSecret =
  (secrets: WebhookSecrets): Step<unknown, SecretView, KeyedRequest> =>
  (_, { caller }) =>
    from(secrets.rotate(caller.subscription));

const replySecret = ({ secret, createdAt, previousExpiresAt }: SecretView): WholeReply => {
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
