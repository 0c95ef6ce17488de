/** Exponential backoff: the milliseconds to wait before a retry. */

export interface BackoffOptions {
  /** Milliseconds before the first retry. */
  readonly first: number;
  /** Milliseconds before any retry, at most. */
  readonly most?: number;
  readonly factor?: number;
}

/** Retries count from 1. */
export const exponentialBackoff =
  ({ first, most = Number.POSITIVE_INFINITY, factor = 2 }: BackoffOptions) =>
  (retry: number): number =>
    Math.min(first * factor ** (retry - 1), most);
