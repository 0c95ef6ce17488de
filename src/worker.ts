/** Configuration in; a worker out: a process that renders jobs and delivers webhooks, and answers no requests. */
import type { Logger } from 'pino';
import { openAccounts } from './accounts.ts';
import { openBlobs } from './adapters/blobs/open.ts';
import { openState } from './adapters/state/open.ts';
import { openAdmin } from './admin/open.ts';
import { workerQuestions } from './admin/questions.ts';
import { createReadiness } from './admin/readiness.ts';
import { type Config, chosenAdmin } from './config.ts';
import { openJobs } from './jobs/open.ts';
import { createMetrics } from './metrics/metrics.ts';
import { serviceFamilies } from './metrics/service-families.ts';
import { openEngines } from './open-engines.ts';
import { Opened } from './opened.ts';

export interface RunningWorker {
  /** Metrics and probes; undefined where no port was chosen for them. */
  readonly adminUrl: string | undefined;
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
    const accounts = opened.add(await openAccounts(config, log));
    const metrics = opened.add(createMetrics());
    const usage = metrics.counted(accounts.usage);
    // Jobs carry the address of the gateway that made them.
    const publicUrl = (): string => config.publicUrl ?? '';
    const blobs = opened.add(await openBlobs(config, { state, log, publicUrl }));
    const { jobs, webhooks } = opened.add(
      await openJobs(config, {
        state,
        blobs,
        catalog: catalog.catalog,
        engines,
        usage,
        events: accounts.events,
        publicUrl,
        log,
      }),
    );
    const { sender } = webhooks;
    metrics.watch(() => serviceFamilies({ engines, accounts, jobs, sender, slots: config.jobs.renders }));
    const readiness = createReadiness(
      workerQuestions({ state, usage, catalog: catalog.catalog, engines, blobs }),
    );
    const admin = await openAdmin(chosenAdmin(config), metrics, readiness);
    if (admin !== undefined) opened.add(admin);
    readiness.enter();
    return {
      adminUrl: admin?.url,
      reload: () => void catalog.reload(),
      stop: () => {
        readiness.leave();
        return opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
};
