/** POST /webhooks/secret/rotate: who asks in; a new secret out, beside which the one before signs for a day. */
import { defer, map } from 'rxjs';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { secretAnswer } from './webhooks-secret.ts';

export const webhooksSecretRotate =
  ({ webhookSecrets }: Ports): KeyedPipeline =>
  (_exchange, { subscription }) =>
    defer(() => webhookSecrets.rotate(subscription)).pipe(map(secretAnswer)); // 409 503
