/** Runs a sweep every minute, one at a time, until closed. */
import type { Logger } from 'pino';

const interval = 60_000;

/** `sweep` resolves to the number of blobs it removed. */
export const startSweeper = (sweep: (now: number) => Promise<number>, log: Logger) => {
  let running: Promise<void> | undefined;
  const once = async (): Promise<void> => {
    try {
      const removed = await sweep(Date.now());
      if (removed > 0) log.info({ removed }, 'expired blobs removed');
    } catch (error) {
      log.warn({ err: error }, 'blob sweep failed');
    }
  };
  const timer = setInterval(() => {
    running ??= once().finally(() => {
      running = undefined;
    });
  }, interval).unref();
  return {
    close: async (): Promise<void> => {
      clearInterval(timer);
      await running;
    },
  };
};
