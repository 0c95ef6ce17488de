/** What every admission obeys beside a request's own limits, and the ways it says no. */
import { type ApiError, fail } from '../../errors.ts';
import { retryAfter } from '../../limits/pace.ts';

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

export const rateReached = (model: string, perWindow: number, waitMs: number): ApiError =>
  fail('rate_limited', `Rate limit reached for ${model}: ${perWindow} requests per minute`, {
    headers: retryAfter(waitMs),
  });

export const queueFull = (model: string, waitMs: number): ApiError =>
  fail('rate_limited', `Too many requests to ${model} are running and waiting`, {
    headers: retryAfter(waitMs),
  });

export const waitOver = (model: string, waitMs: number): ApiError =>
  fail('rate_limited', `Too many requests to ${model} are running: none ended in time for this one`, {
    headers: retryAfter(waitMs),
  });
