/** Work that a store may refuse for a while in; its result out, tried again until it is there or the time is over. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../errors.ts';

const firstPause = 100;
const longestPause = 2_000;

export const persistently = async <T>(work: () => Promise<T>, longestMs: number): Promise<T> => {
  const deadline = Date.now() + longestMs;
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    try {
      return await work();
    } catch (error) {
      const passing = error instanceof ApiError && error.kind === 'unavailable';
      if (!passing || Date.now() + pause > deadline) throw error;
      await delay(pause);
    }
  }
};
