/** Opens jobs and their webhooks, for a gateway or a separate worker. */
import { type EventsConfig, readJobs } from '../adapters/events/open.ts';
import type { Events } from '../ports/events.ts';
import { createWebhooks, type Webhooks } from '../webhooks/webhooks.ts';
import { createJobs, type JobParts, type JobSettings, type RunningJobs } from './jobs.ts';
import { createJobEvents, Notices } from './notices.ts';
import { plainRecord } from './render-record.ts';

interface JobsConfig extends Pick<EventsConfig, 'kafka'> {
  readonly jobs: Pick<JobSettings, 'renders' | 'keptMs' | 'longestMs'>;
  readonly allowPrivateUrls: boolean;
}

export interface OpenJobs {
  readonly jobs: RunningJobs;
  readonly webhooks: Webhooks;
  close(): Promise<void>;
}

/** With Kafka, processes notify each other of jobs at once; without it, or while it is unavailable, they poll. */
export const openJobs = async (
  config: JobsConfig,
  { events, ...parts }: Omit<JobParts, 'notify'> & { readonly events: Events },
): Promise<OpenJobs> => {
  const { log } = parts;
  const jobEvents = createJobEvents(events, log);
  const notices = new Notices((job, notice) => jobEvents.publish(job, notice));
  const subscription =
    config.kafka === undefined ? undefined : await readJobs(config.kafka, jobEvents.receiver(notices), log);
  const webhooks = createWebhooks(
    { ...parts, recordOf: plainRecord },
    { allowPrivate: config.allowPrivateUrls },
  );
  const jobs = createJobs({ ...parts, notify: webhooks.notify }, { ...config.jobs, notices });
  return {
    jobs,
    webhooks,
    close: async () => {
      await subscription?.close();
      await jobs.close();
      await webhooks.close();
    },
  };
};
