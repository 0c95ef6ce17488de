/** Runs a started service until a signal or an uncaught error stops it. */
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { stopOnFatalError } from '../fatal.ts';

export interface Service {
  /** Called on SIGHUP. */
  reload?(): void;
  stop(): Promise<void>;
}

export const runService = async (service: Service, { drainMs }: Config, log: Logger): Promise<void> => {
  stopOnFatalError(log, drainMs, () => service.stop());
  if (service.reload !== undefined) process.on('SIGHUP', () => service.reload?.());
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  log.info({ signal }, 'draining');
  // A second interrupt does not wait for the drain.
  process.once('SIGINT', () => process.exit(130));
  await service.stop();
};
