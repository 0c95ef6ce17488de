/** Starts a process as a supervisor would: one that ends because a service is away is started again. */
import { setTimeout as delay } from 'node:timers/promises';

const mostStarts = 20;

export const supervised = async <T>(start: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === mostStarts) throw error;
      await delay(500);
    }
  }
};
