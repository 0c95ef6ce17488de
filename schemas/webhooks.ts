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
  time: Type.Integer({ description: 'Unix milliseconds when it began' }),
  status: Nullable(Type.Integer({ description: "Of the receiver's response; null: there was none" })),
  error: Nullable(
    Type.String({
      description: 'What went wrong; null: it was accepted, or the process died before it knew',
    }),
  ),
  milliseconds: Type.Integer({ description: 'That it took' }),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

/** Kind `delivery`, id `<job>-<ending>`: its idempotency key. Times are Unix milliseconds. */
export const DeliveryRecord = Type.Object({
  job: Type.String({ description: 'Id of the job, or of the budget, that it is about' }),
  type: Type.String({ description: 'Of the event: `video.generation.completed` …' }),
  subscription: Type.String({ description: 'Id; its webhook secret signs' }),
  url: Type.String({ description: 'Of the receiver' }),
  /** Built once: every attempt sends the same bytes. */
  body: Type.String(),
  created: Type.Integer({ description: 'Unix milliseconds' }),
  status: Type.Enum(['waiting', 'delivered', 'given up'], { description: '`waiting`: for its next attempt' }),
  tries: Type.Integer({ description: 'Attempts since it was created or resent' }),
  next: Nullable(Type.Integer({ description: 'Unix milliseconds of the next attempt; null: there is none' })),
  /** The worker that is delivering it. */
  claim: Nullable(Type.String()),
  attempts: Type.Array(DeliveryAttempt, { description: 'The last ones' }),
});
export type DeliveryRecord = Static<typeof DeliveryRecord>;

export const WebhookSecret = Type.Object({
  object: Type.Literal('webhook.secret'),
  secret: Type.String({ description: 'Keys the signatures, `whsec_` and all' }),
  signing_secret: Type.String({ description: 'The same as `secret`' }),
  created_at: Type.Integer({ description: 'Unix seconds' }),
  previous_secret_expires_at: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Unix seconds until which the previous secret signs too; null when there is none',
  }),
});
export type WebhookSecret = Static<typeof WebhookSecret>;
