/** Work that a store may refuse for a while in; its result out, tried again until it is there or the time is over. */
import { setTimeout as delay } from 'node:timers/promises';
import { exponentialBackoff } from '../backoff.ts';
import { ApiError } from '../errors.ts';

const backoff = exponentialBackoff({ first: 100, most: 2_000 });

export const persistently = async <T>(work: () => Promise<T>, longestMs: number): Promise<T> => {
  const deadline = Date.now() + longestMs;
  for (let retry = 1; ; retry++) {
    try {
      return await work();
    } catch (error) {
      const pause = backoff(retry);
      const passing = error instanceof ApiError && error.kind === 'unavailable';
      if (!passing || Date.now() + pause > deadline) throw error;
      await delay(pause);
    }
  }
};
