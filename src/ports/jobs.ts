/** Jobs, which render after the response, and the secrets of their webhooks. */
import type { Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { JobClaim, JobRecord } from '../../schemas/jobs.ts';
import type { Backpressure } from './backpressure.ts';
import type { RenderCall } from './engines/render.ts';
import type { Caller } from './exchange.ts';

export type JobType = JobRecord['type'];

export interface NewJob {
  /** `video_` or `music_` and 24 hex characters: made before its inputs are kept, which carry it in their names. */
  readonly id: string;
  readonly requestId: string;
  readonly caller: Caller;
  readonly model: Model;
  readonly call: RenderCall;
  readonly request: Readonly<Record<string, unknown>>;
  readonly billedSeconds: number;
  readonly expectedMs: number;
  readonly progressive: boolean;
  readonly callbackUrl: string | undefined;
  /** What is reserved for it of budgets; settled when it has ended. */
  readonly claims?: readonly JobClaim[] | undefined;
}

/** A record, and what is only known now. */
export interface JobView {
  readonly job: JobRecord;
  /** Jobs of the same model ahead of it; undefined unless pending. */
  readonly queuePosition: number | undefined;
  /** Whole percent, estimated from the expected time and what the renderer said; 100 when completed. */
  readonly progress: number;
}

export interface JobPage {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly after?: string;
  readonly before?: string;
}

/** Another subscription's job is not there. Calls reject with `unavailable` when the store cannot answer. */
export interface Jobs {
  create(job: NewJob): Promise<JobView>;
  /** Rejects with `not_found`. */
  get(type: JobType, id: string, subscription: string): Promise<JobView>;
  list(type: JobType, subscription: string, page: JobPage): Promise<readonly JobView[]>;
  /** The cancelled job, or `deleted` when it had ended before. Rejects with `not_found`, or `conflict` when it moved meanwhile. */
  remove(type: JobType, id: string, subscription: string): Promise<JobView | 'deleted'>;
  /**
   * A song's samples from their beginning, as they are rendered, at the pace of `backpressure`; completes when the song ends,
   * for whatever reason. Errors with `not_found` or `conflict` before the first bytes, and otherwise when the
   * render was begun again.
   */
  samples(
    id: string,
    subscription: string,
    output: number,
    backpressure: Backpressure,
  ): Observable<Uint8Array>;
  close(): Promise<void>;
}

/** For operators: jobs of all subscriptions. */
export interface JobsOfAll {
  listAll(type: JobType, subscription: string | undefined, page: JobPage): Promise<readonly JobView[]>;
  /** Rejects with `not_found`. */
  getOfAny(id: string): Promise<JobView>;
  /** Rejects with `not_found`, or `conflict` when it has ended. */
  cancel(id: string): Promise<JobView>;
}

export interface SecretView {
  readonly secret: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly previousExpiresAt: number | undefined;
}

export interface WebhookSecrets {
  /** Made at first use. */
  current(subscription: string): Promise<SecretView>;
  /** The one before signs too for a day; the one before that no longer. */
  rotate(subscription: string): Promise<SecretView>;
}
