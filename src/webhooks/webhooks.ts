/** Webhooks: signing secrets, deliveries about ended jobs, and their sender. */
import type { Logger } from 'pino';
import { jsonText } from '../helpers/json-text.ts';
import { createGuardedFetch, type GuardedFetchOptions } from '../media/guarded-fetch.ts';
import type { JobView } from '../ports/jobs.ts';
import type { State } from '../ports/state.ts';
import { Deliveries } from './deliveries.ts';
import { createWebhookSecrets, type SigningSecrets } from './secrets.ts';
import { Sender } from './sender.ts';

interface WebhookParts {
  readonly state: State;
  readonly recordOf: RecordOf;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

export interface WebhookSettings extends Pick<GuardedFetchOptions, 'allowPrivate' | 'lookup' | 'ca'> {
  readonly now?: () => number;
  readonly pollMs?: number;
  /** Milliseconds that a receiver has to respond. */
  readonly answerMs?: number;
}

export interface Webhooks {
  readonly secrets: SigningSecrets;
  readonly deliveries: Deliveries;
  readonly sender: Sender;
  notify(view: JobView, ending: string): Promise<void>;
  /** Once per id, however often. */
  notifyBudget(notice: BudgetNotice): Promise<void>;
  close(): Promise<void>;
}

export const createWebhooks = (
  { state, recordOf, publicUrl, log }: WebhookParts,
  { now = Date.now, pollMs, answerMs = 10_000, ...rules }: WebhookSettings,
): Webhooks => {
  const secrets = createWebhookSecrets(state, now);
  const deliveries = new Deliveries(state, now);
  const timeouts = { connect: answerMs, firstByte: answerMs, idle: answerMs, total: answerMs };
  const fetch = createGuardedFetch({ ...rules, anyPort: true, timeouts });
  const sender = new Sender({ deliveries, secrets, fetch, log, now }, pollMs === undefined ? {} : { pollMs });
  return {
    secrets,
    deliveries,
    sender,
    notify: createNotify({ deliveries, recordOf, publicUrl, added: () => sender.wake() }),
    notifyBudget: async ({ budget, ...notice }) => {
      if (await deliveries.add({ job: budget, ...notice })) sender.wake();
    },
    close: () => sender.close(),
  };
};

/** About the budget of a subscription. */
export interface BudgetNotice {
  readonly id: string;
  readonly budget: string;
  readonly type: string;
  readonly subscription: string;
  readonly url: string;
  readonly body: string;
}

/** The job as a plain HTTP client reads it. */
type RecordOf = (view: JobView, publicUrl: string) => Readonly<Record<string, unknown>>;

interface NotifyParts {
  readonly deliveries: Pick<Deliveries, 'add'>;
  readonly recordOf: RecordOf;
  /** Where links start when the job does not say. */
  readonly publicUrl: () => string;
  /** A delivery was added. */
  readonly added: () => void;
}

/** Adds the delivery of an ended job whose request has a callback. Its id is derived from the job: a repeated call adds none. */
export const createNotify =
  ({ deliveries, recordOf, publicUrl, added }: NotifyParts) =>
  async (view: JobView, ending: string): Promise<void> => {
    const { job } = view;
    if (job.callback_url === null) return;
    const type = `${job.type}.generation.${ending}`;
    const isNew = await deliveries.add({
      id: `${job.id}-${ending}`,
      job: job.id,
      type,
      subscription: job.subscription,
      url: job.callback_url,
      body: jsonText({
        type,
        created_at: Math.floor((job.moved ?? job.created) / 1000),
        data: recordOf(view, job.public_url || publicUrl()),
      }),
    });
    if (isNew) added();
  };
