/** Configuration in; jobs and their webhooks out, rendering and delivering from now on. The same in a gateway and in a worker of its own. */
import type { Logger } from 'pino';
import type { Jobs } from '../ports/jobs.ts';
import { createWebhooks, type Webhooks } from '../webhooks/webhooks.ts';
import { createJobs, type JobParts, type JobSettings } from './jobs.ts';
import { plainRecord } from './render-record.ts';

export interface JobsConfig {
  readonly jobs: Pick<JobSettings, 'renders' | 'keptMs' | 'longestMs'>;
  readonly allowPrivateUrls: boolean;
}

export interface OpenJobs {
  readonly jobs: Jobs;
  readonly webhooks: Webhooks;
  close(): Promise<void>;
}

export const openJobs = (
  config: JobsConfig,
  parts: Omit<JobParts, 'tell'> & { readonly log: Logger },
): OpenJobs => {
  const webhooks = createWebhooks(
    { ...parts, recordOf: plainRecord },
    { allowPrivate: config.allowPrivateUrls },
  );
  const jobs = createJobs({ ...parts, tell: webhooks.tell }, config.jobs);
  return {
    jobs,
    webhooks,
    close: async () => {
      await jobs.close();
      await webhooks.close();
    },
  };
};
