/** Webhook secrets and deliveries: records of the State port and the response of the secret routes. */
import Type, { type Static } from 'typebox';
import { Nullable } from './shapes.ts';

/** Kind `webhook-secret`, id: the subscription it signs for. Times are Unix milliseconds. */
export const WebhookSecretRecord = Type.Object({
  secret: Type.String(),
  created: Type.Integer(),
  /** The one before, which signs too until it expires. */
  previous: Nullable(Type.String()),
  previous_expires: Nullable(Type.Integer()),
});
export type WebhookSecretRecord = Static<typeof WebhookSecretRecord>;

/** One try to deliver. */
export const DeliveryAttempt = Type.Object({
  /** Unix milliseconds when it began. */
  time: Type.Integer(),
  /** Status of the receiver's response; null when there was none. */
  status: Nullable(Type.Integer()),
  /** What went wrong; null when it was accepted, or when the process died before it knew. */
  error: Nullable(Type.String()),
  milliseconds: Type.Integer(),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

/** Kind `delivery`, id `<job>-<ending>`: its idempotency key. Times are Unix milliseconds. */
export const DeliveryRecord = Type.Object({
  /** Or a budget. */
  job: Type.String(),
  type: Type.String(),
  subscription: Type.String(),
  url: Type.String(),
  /** Built once: every attempt sends the same bytes. */
  body: Type.String(),
  created: Type.Integer(),
  status: Type.Enum(['waiting', 'delivered', 'given up']),
  /** Attempts since it was created or resent manually. */
  tries: Type.Integer(),
  /** When it is tried next; null when it will not be. */
  next: Nullable(Type.Integer()),
  /** The worker that is delivering it. */
  claim: Nullable(Type.String()),
  /** The last ones. */
  attempts: Type.Array(DeliveryAttempt),
});
export type DeliveryRecord = Static<typeof DeliveryRecord>;

export const WebhookSecret = Type.Object({
  object: Type.Literal('webhook.secret'),
  secret: Type.String({ description: 'Keys the signatures, prefix and all.' }),
  signing_secret: Type.String({ description: 'The same.' }),
  created_at: Type.Integer({ description: 'Unix seconds.' }),
  previous_secret_expires_at: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Unix seconds until which the secret before signs too; null when there is none.',
  }),
});
export type WebhookSecret = Static<typeof WebhookSecret>;
