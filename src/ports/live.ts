/** Requests that run now and those that ended last, as operators see them. */
import type { ApiError } from '../errors.ts';
import type { LeaseUsage } from './admission.ts';
import type { Served } from './served.ts';

export interface LiveRequest {
  readonly id: string;
  readonly method: string;
  /** Below `/v1`; null where no route was found. */
  readonly route: string | null;
  /** Receiving: before admission; queued: waits for a slot; running: nothing of the response is sent yet. */
  readonly state: 'receiving' | 'queued' | 'running' | 'streaming';
  /** Null until it is known. */
  readonly model: string | null;
  readonly subscription: string | null;
  readonly key: string | null;
  /** Alias of the replica that was called last. */
  readonly replica: string | null;
  /** Milliseconds in queues, and since it came. */
  readonly queue_ms: number;
  readonly age_ms: number;
  /** So far; estimated where the engine has not counted. */
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export interface EndedRequest {
  readonly id: string;
  /** Unix milliseconds of its end. */
  readonly time: number;
  readonly method: string;
  readonly route: string | null;
  /** 0: the connection ended before there was one. */
  readonly status: number;
  /** Why the response was not sent to its end; null: it was. */
  readonly cut: string | null;
  readonly model: string | null;
  readonly subscription: string | null;
  readonly key: string | null;
  readonly queue_ms: number;
  readonly total_ms: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Dollars, an exact decimal; null where nothing was billed with the response. */
  readonly cost: string | null;
}

export interface LiveRequests {
  list(): readonly LiveRequest[];
  /** Ends it as a failure from outside does. False: it does not run here. */
  cancel(id: string, error: ApiError): boolean;
  /** Those that ended after so many others, oldest first, as far as they are kept; and how many have ended by now. */
  recent(after: number): { readonly ended: readonly EndedRequest[]; readonly count: number };
}

/** What is known of a request once it is admitted. Accounts of what is not counted in tokens have none. */
export const servedSoFar = (
  served: Served | undefined,
): Pick<LiveRequest, 'model' | 'replica' | 'queue_ms' | 'prompt_tokens' | 'completion_tokens'> => {
  const account = served?.holder.account as { tokens?(): LeaseUsage | undefined } | undefined;
  const tokens = account?.tokens?.();
  return {
    model: served?.model ?? null,
    replica: served?.replica || null,
    queue_ms: served === undefined ? 0 : Math.round(served.lease.waited + served.queuedMs),
    prompt_tokens: tokens?.prompt ?? 0,
    completion_tokens: tokens?.completion ?? 0,
  };
};
