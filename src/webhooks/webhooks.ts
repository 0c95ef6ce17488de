/** Store and rules for addresses in; webhooks out: secrets, what tells of a job's end, and the sender that delivers it. */
import type { Logger } from 'pino';
import { createGuardedFetch, type GuardedFetchOptions } from '../media/guarded-fetch.ts';
import type { JobView } from '../ports/jobs.ts';
import type { State } from '../ports/state.ts';
import { Deliveries } from './deliveries.ts';
import { createWebhookSecrets, type SigningSecrets } from './secrets.ts';
import { Sender } from './sender.ts';
import { createTell, type RecordOf } from './tell.ts';

export interface WebhookParts {
  readonly state: State;
  readonly recordOf: RecordOf;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

export interface WebhookSettings extends Pick<GuardedFetchOptions, 'allowPrivate' | 'lookup' | 'ca'> {
  readonly now?: () => number;
  readonly pollMs?: number;
  /** Milliseconds a receiver has to answer. */
  readonly answerMs?: number;
}

export interface Webhooks {
  readonly secrets: SigningSecrets;
  readonly deliveries: Deliveries;
  readonly sender: Sender;
  tell(view: JobView, ending: string): Promise<void>;
  close(): Promise<void>;
}

export const createWebhooks = (
  { state, recordOf, publicUrl, log }: WebhookParts,
  { now = Date.now, pollMs, answerMs = 10_000, ...rules }: WebhookSettings,
): Webhooks => {
  const secrets = createWebhookSecrets(state, now);
  const deliveries = new Deliveries(state, now);
  const timeouts = { connect: answerMs, firstByte: answerMs, idle: answerMs, total: answerMs };
  const fetch = createGuardedFetch({ ...rules, timeouts });
  const sender = new Sender({ deliveries, secrets, fetch, log, now }, pollMs === undefined ? {} : { pollMs });
  return {
    secrets,
    deliveries,
    sender,
    tell: createTell({ deliveries, recordOf, publicUrl, kept: () => sender.wake() }),
    close: () => sender.close(),
  };
};
