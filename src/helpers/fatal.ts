/** Stops a process within a bounded time, also after an error that nothing caught. */
import type { Logger } from 'pino';

/** Beyond the drain: for the last bytes of cut streams, and for closing stores. */
const closeMs = 5_000;

/** Ends with exit code 1 where stopping fails or takes longer: what is still open would keep the process alive. */
export const stopInTime = async (
  log: Logger,
  drainMs: number,
  stop: () => Promise<unknown>,
): Promise<void> => {
  const exit = (error: unknown): never => {
    log.error({ err: error }, 'stopping failed');
    return process.exit(1);
  };
  const late = setTimeout(
    () => exit(new Error(`not stopped after ${drainMs + closeMs} ms`)),
    drainMs + closeMs,
  );
  await stop().catch(exit);
  clearTimeout(late);
};

/**
 * One log line, a bounded drain, exit code 1. For a service that runs: one that is starting has nothing to drain, and
 * Node ends it at once by itself.
 */
export const stopOnFatalError = (log: Logger, drainMs: number, stop: () => Promise<unknown>): void => {
  const exit = (): never => process.exit(1);
  let stopping = false;
  // Node raises unhandled rejections here too; the origin says which of the two it was.
  process.on('uncaughtException', (err, origin) => {
    if (stopping) {
      log.error({ err, origin }, 'another uncaught error while stopping');
      exit();
    }
    stopping = true;
    log.fatal({ err, origin }, 'uncaught error, stopping');
    void stopInTime(log, drainMs, stop).finally(exit);
  });
};
