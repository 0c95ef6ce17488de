/** Work that is to be done now and then in; the same done at intervals, one round at a time, until it is stopped. */
import type { Logger } from 'pino';

/** Rounds in a row while there is something to do. */
const mostRounds = 100;

/** `work` tells how much it did. */
export const startSweep = (
  work: () => Promise<number>,
  log: Logger,
  everyMs = 5_000,
): { stop(): Promise<void> } => {
  let sweeping: Promise<void> | undefined;
  let closed = false;
  const sweep = async (): Promise<void> => {
    try {
      for (let round = 0; round < mostRounds && !closed && (await work()) > 0; round++);
    } catch (error) {
      log.warn({ err: error }, 'ended jobs cannot be seen to now');
    }
  };
  const timer = setInterval(() => {
    sweeping ??= sweep().finally(() => {
      sweeping = undefined;
    });
  }, everyMs).unref();
  return {
    stop: async () => {
      closed = true;
      clearInterval(timer);
      await sweeping;
    },
  };
};
