/** Configuration in; a worker out: a process that renders jobs and delivers webhooks, and answers no requests. */
import type { Logger } from 'pino';
import { openBlobs } from './adapters/blobs/open.ts';
import { openState } from './adapters/state/open.ts';
import { openAccounts } from './billing/accounts.ts';
import { openCatalog } from './catalog/watch.ts';
import { createCodec } from './codec/codec.ts';
import type { Config } from './config.ts';
import { createSimulator } from './engines/simulator/simulator.ts';
import { createEngines } from './engines/table.ts';
import { openJobs } from './jobs/open.ts';
import { createMedia } from './media/media.ts';

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
  const closing: (() => Promise<void> | void)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  const opened = <T extends { close(): Promise<void> | void }>(part: T): T => {
    closing.push(() => part.close());
    return part;
  };
  try {
    const state = opened(await openState(config));
    const catalog = opened(
      openCatalog({ file: config.configFile, log, onConfig: (next) => engines.replace(next.engines) }),
    );
    const media = opened(createMedia({ allowPrivate: config.allowPrivateUrls }));
    const codec = opened(createCodec());
    const engines = opened(
      createEngines(catalog.config().engines, {
        simulator: createSimulator({ codec }),
        log,
        env: process.env,
        media,
        codec,
      }),
    );
    const { usage, events } = opened(await openAccounts(config, log));
    // Jobs carry the address of the gateway that made them.
    const publicUrl = (): string => config.publicUrl ?? '';
    const blobs = opened(await openBlobs(config, { state, log, publicUrl }));
    opened(
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
    return { reload: () => void catalog.reload(), stop: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
};
