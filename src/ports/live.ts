/** Requests that run now and those that ended last, as operators see them. */
import type { Timeline } from '../../schemas/admin/requests.ts';
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
  /** Calls that were sent to engines, and times that its stream broke off and went on elsewhere. */
  readonly attempts: number;
  readonly continuations: number;
  /** Milliseconds in queues, until the first token, and since it came. */
  readonly queue_ms: number;
  readonly first_token_ms: number | null;
  readonly age_ms: number;
  readonly timeline: Timeline;
  /** Its socket is full, so that its engine is not read; and the bytes that wait for room in it. */
  readonly slow_reader: boolean;
  readonly unread_bytes: number;
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
  readonly replica: string | null;
  readonly attempts: number;
  readonly continuations: number;
  readonly queue_ms: number;
  readonly first_token_ms: number | null;
  readonly total_ms: number;
  readonly timeline: Timeline;
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

/** What the edge knows of its times, on the clock of `performance.now`; 0: not yet. */
export interface EdgeTimes {
  readonly begun: number;
  readonly received?: number;
  readonly headAt?: number;
  readonly endedAt?: number;
}

type SoFar = Pick<
  LiveRequest,
  | 'model'
  | 'replica'
  | 'attempts'
  | 'continuations'
  | 'queue_ms'
  | 'first_token_ms'
  | 'timeline'
  | 'prompt_tokens'
  | 'completion_tokens'
>;

interface Counting {
  tokens?(): LeaseUsage | undefined;
  readonly firstTokenAt?: number | undefined;
}

/** When the first token was here; 0: there is none, or it is not known. */
export const firstTokenOf = (served: Served | undefined): number =>
  (served?.holder.account as Counting | undefined)?.firstTokenAt ?? 0;

/** What is known of a request once it is admitted. Accounts of what is not counted in tokens have none. */
export const servedSoFar = (served: Served | undefined, times: EdgeTimes): SoFar => {
  const tokens = (served?.holder.account as Counting | undefined)?.tokens?.();
  const timeline = timelineOf(times, {
    admittedAt: served?.admittedAt ?? 0,
    calledAt: served?.calledAt ?? 0,
    answeredAt: served?.answeredAt ?? 0,
    firstTokenAt: firstTokenOf(served),
    billedAt: served?.billedAt ?? 0,
  });
  return {
    model: served?.model ?? null,
    replica: served?.replica || null,
    attempts: served?.attempts ?? 0,
    continuations: served?.continuations ?? 0,
    queue_ms: served === undefined ? 0 : Math.round(served.lease.waited + served.queuedMs),
    first_token_ms: timeline.first_token,
    timeline,
    prompt_tokens: tokens?.prompt ?? 0,
    completion_tokens: tokens?.completion ?? 0,
  };
};

interface ServedTimes extends Pick<Served, 'admittedAt' | 'calledAt' | 'answeredAt' | 'billedAt'> {
  readonly firstTokenAt: number;
}

export const timelineOf = (
  { begun, received = 0, headAt = 0, endedAt = 0 }: EdgeTimes,
  { admittedAt, calledAt, answeredAt, firstTokenAt, billedAt }: ServedTimes,
): Timeline => {
  const since = (time: number): number | null =>
    time === 0 ? null : Math.max(0, Math.round((time - begun) * 10) / 10);
  return {
    received: 0,
    parsed: since(received),
    admitted: since(admittedAt),
    engine_called: since(calledAt),
    engine_answered: since(answeredAt),
    first_byte: since(headAt),
    first_token: since(firstTokenAt),
    billed: since(billedAt),
    last_byte: since(endedAt),
  };
};
