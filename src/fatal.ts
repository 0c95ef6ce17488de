/** Stops a process after an error that nothing caught: one log line, a bounded drain, exit code 1. */
import type { Logger } from 'pino';

/** Beyond the drain: for the last bytes of cut streams, and for closing stores. */
const closeMs = 5_000;

/** For a service that runs: one that is starting has nothing to drain, and Node ends it at once by itself. */
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
    setTimeout(exit, drainMs + closeMs);
    stop()
      .catch((error: unknown) => log.error({ err: error }, 'stopping failed'))
      .finally(exit);
  });
};
