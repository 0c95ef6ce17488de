/** Retries with exponential backoff while a store or a resource of the process is unavailable. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../errors.ts';
import { exponentialBackoff } from '../helpers/backoff.ts';

const backoffOf = exponentialBackoff({ first: 100, most: 2_000 });

export const retryUnavailable = async <T>(
  work: () => Promise<T>,
  maxMs: number,
  signal?: AbortSignal,
): Promise<T> => {
  const deadline = Date.now() + maxMs;
  for (let retry = 1; ; retry++) {
    try {
      return await work();
    } catch (error) {
      const backoff = backoffOf(retry);
      const isTransient = error instanceof ApiError && error.kind === 'unavailable';
      if (!isTransient || Date.now() + backoff > deadline) throw error;
      await delay(backoff, undefined, signal === undefined ? {} : { signal });
    }
  }
};
