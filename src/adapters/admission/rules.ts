/** Limits on windows and queues that hold for all requests, and the refusals. */
import { type LimitKind, limitKinds } from '../../../schemas/limits.ts';
import { type ApiError, fail } from '../../errors.ts';
import { retryAfter } from '../../helpers/pace.ts';
import type { Limits, RateWindow } from '../../ports/admission.ts';

export interface Rules {
  /** Length of the rate window. The contract says a minute; tests do not want to wait for one. */
  readonly windowMs: number;
  /** Requests that may wait at one gate; never more than may start in a window. */
  readonly queueLength: number;
  /** How long a request may wait. */
  readonly queueMs: number;
  /** Requests that may wait in this process, at all gates together. */
  readonly waiting: number;
}

export const usualRules: Rules = { windowMs: 60_000, queueLength: 1000, queueMs: 30_000, waiting: 10_000 };

export const rateReached = (model: string, limits: Limits, kind: LimitKind): string =>
  `Rate limit reached for ${model}: ${limits[kind]} ${limitKinds[kind].unit}`;

export const queueFull = (model: string): string => `Too many requests to ${model} are running and waiting`;

export const waitOver = (model: string): string =>
  `Too many requests to ${model} are running: none ended in time for this one`;

export const refusal = (message: string, waitMs: number, window?: RateWindow): ApiError =>
  fail('rate_limited', message, { headers: retryAfter(waitMs), ...(window && { window }) });

/** Building an error takes longer than a decision: a flood of refusals shares one error while it stays accurate. */
export class Refusals {
  #last: ApiError | undefined;

  of(message: string, waitMs: number, window: () => RateWindow): ApiError {
    const last = this.#last;
    if (last?.message === message && last.headers['retry-after'] === retryAfter(waitMs)['retry-after'])
      return last;
    this.#last = refusal(message, waitMs, window());
    return this.#last;
  }
}
