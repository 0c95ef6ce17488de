/** Secrets and signatures of webhooks: after a rotation the previous secret signs too, for a day. */
import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookSecretRecord } from '../../schemas/webhooks.ts';
import { fail } from '../errors.ts';
import type { SecretView, WebhookSecrets } from '../ports/jobs.ts';
import type { State, StoredRecord } from '../ports/state.ts';

const kind = 'webhook-secret';
/** How long the previous secret goes on signing. */
const overlapMs = 24 * 3_600_000;
const maxAttempts = 20;

export interface SigningSecrets extends WebhookSecrets {
  /** Those that sign now, the newest first. */
  signing(subscription: string): Promise<readonly string[]>;
}

export const createWebhookSecrets = (state: State, now: () => number = Date.now): SigningSecrets => {
  const read = async (subscription: string): Promise<StoredRecord<WebhookSecretRecord>> => {
    const found = await state.get<WebhookSecretRecord>(kind, subscription);
    if (found !== undefined) return found;
    const value = { secret: newSecret(), created: now(), previous: null, previous_expires: null };
    // False when another request or replica was faster: theirs is used then.
    await state.create<WebhookSecretRecord>(kind, { id: subscription, owner: subscription, value });
    const made = await state.get<WebhookSecretRecord>(kind, subscription);
    if (made === undefined) throw fail('unavailable', 'The webhook secret cannot be read');
    return made;
  };

  return {
    current: async (subscription) => viewOf((await read(subscription)).value, now()),

    rotate: async (subscription) => {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const { version, value } = await read(subscription);
        const time = now();
        const next: WebhookSecretRecord = {
          secret: newSecret(),
          created: time,
          previous: value.secret,
          previous_expires: time + overlapMs,
        };
        if (await state.update(kind, subscription, version, { value: next })) return viewOf(next, time);
      }
      throw fail('conflict', 'The webhook secret is being rotated by others: try again');
    },

    signing: async (subscription) => {
      const { value } = await read(subscription);
      return overlaps(value, now()) && value.previous !== null
        ? [value.secret, value.previous]
        : [value.secret];
    },
  };
};

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`;

const overlaps = ({ previous_expires }: WebhookSecretRecord, now: number): boolean =>
  previous_expires !== null && now < previous_expires;

const viewOf = (record: WebhookSecretRecord, now: number): SecretView => ({
  secret: record.secret,
  createdAt: record.created,
  previousExpiresAt: overlaps(record, now) ? (record.previous_expires ?? undefined) : undefined,
});

/** `t=<unix seconds>,v1=<hex>`, a `v1` for each secret, over `<t>.<body>` keyed with the whole secret, prefix and all. */
export const signatureOf = (body: string, seconds: number, secrets: readonly string[]): string =>
  [
    `t=${seconds}`,
    ...secrets.map(
      (secret) => `v1=${createHmac('sha256', secret).update(`${seconds}.${body}`, 'utf8').digest('hex')}`,
    ),
  ].join(',');
