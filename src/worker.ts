/** Configuration in; a worker out: a process that renders jobs and delivers webhooks, and answers no requests. */
import type { Logger } from 'pino';
import { openBlobs } from './adapters/blobs/open.ts';
import { openState } from './adapters/state/open.ts';
import { openAccounts } from './billing/accounts.ts';
import type { Config } from './config.ts';
import { openJobs } from './jobs/open.ts';
import { openEngines } from './open-engines.ts';
import { Opened } from './opened.ts';

export interface RunningWorker {
  /** Reads `sluice.yaml` again; a bad file is refused and logged, the old one stays. */
  reload(): void;
  /** Gives back what it renders, for others to begin again, and closes everything. */
  stop(): Promise<void>;
}

/** Rejects with one sentence for the operator when it cannot start. */
export const startWorker = async (config: Config, log: Logger): Promise<RunningWorker> => {
  if (config.redisUrl === undefined)
    throw new Error('REDIS_URL is not set: without it a gateway renders its jobs itself');
  if (config.jobs.renders === 0) throw new Error('SLUICE_WORKERS is 0: there is nothing for a worker to do');
  const opened = new Opened();
  try {
    const state = opened.add(await openState(config));
    const { catalog, engines } = openEngines(config, log, opened);
    const { usage, events } = opened.add(await openAccounts(config, log));
    // Jobs carry the address of the gateway that made them.
    const publicUrl = (): string => config.publicUrl ?? '';
    const blobs = opened.add(await openBlobs(config, { state, log, publicUrl }));
    opened.add(
      await openJobs(config, {
        state,
        blobs,
        catalog: catalog.catalog,
        engines,
        usage,
        events,
        publicUrl,
        log,
      }),
    );
    return { reload: () => void catalog.reload(), stop: () => opened.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
};
