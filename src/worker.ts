/** Starts a worker: a process that renders jobs and delivers webhooks, and serves no requests. */
import type { Logger } from 'pino';
import { openState } from './adapters/state/open.ts';
import { workerChecks } from './admin/checks.ts';
import { openAdmin } from './admin/open.ts';
import { openService } from './compose.ts';
import { type Config, chosenAdmin } from './config.ts';
import { openAll } from './helpers/opened.ts';

export interface RunningWorker {
  /** Metrics and probes; undefined where no port was chosen for them. */
  readonly adminUrl: string | undefined;
  reload(): void;
  /** Hands back what it renders, for others to start over, and closes everything. */
  stop(): Promise<void>;
}

/** Rejects with one sentence for the operator when it cannot start. */
export const startWorker = async (config: Config, log: Logger): Promise<RunningWorker> => {
  if (config.redis === undefined)
    throw new Error('REDIS_URL is not set: without it a gateway renders its jobs itself');
  if (config.jobs.renders === 0) throw new Error('SLUICE_WORKERS is 0: there is nothing for a worker to do');
  return openAll(async (opened) => {
    const state = opened.add(await openState(config));
    // Jobs carry the address of the gateway that created them.
    const publicUrl = (): string => config.publicUrl ?? '';
    const service = await openService({ config, log, opened, state, publicUrl });
    const checks = workerChecks({ ...service, state });
    const admin = await openAdmin(opened, chosenAdmin(config), service.metrics, checks);
    admin.started();
    void service.codecWatch.look();
    return {
      adminUrl: admin.url,
      reload: service.reload,
      stop: () => {
        admin.stopping();
        return opened.close();
      },
    };
  });
};
