/** Configuration in; jobs and their webhooks out, rendering and delivering from now on. The same in a gateway and in a worker of its own. */
import { type EventsConfig, readJobs } from '../adapters/events/open.ts';
import type { Events } from '../ports/events.ts';
import { createWebhooks, type Webhooks } from '../webhooks/webhooks.ts';
import { JobEvents } from './events.ts';
import { createJobs, type JobParts, type JobSettings, type RunningJobs } from './jobs.ts';
import { Notices } from './notices.ts';
import { plainRecord } from './render-record.ts';

export interface JobsConfig extends Pick<EventsConfig, 'kafka'> {
  readonly jobs: Pick<JobSettings, 'renders' | 'keptMs' | 'longestMs'>;
  readonly allowPrivateUrls: boolean;
}

export interface OpenJobs {
  readonly jobs: RunningJobs;
  readonly webhooks: Webhooks;
  close(): Promise<void>;
}

/** With Kafka processes hear of each other's jobs at once; without it, or while it is away, they look. */
export const openJobs = async (
  config: JobsConfig,
  { events, ...parts }: Omit<JobParts, 'tell'> & { readonly events: Events },
): Promise<OpenJobs> => {
  const { log } = parts;
  const jobEvents = new JobEvents(events, log);
  const notices = new Notices((job, notice) => jobEvents.publish(job, notice));
  const hearing =
    config.kafka === undefined ? undefined : await readJobs(config.kafka, jobEvents.receiver(notices), log);
  const webhooks = createWebhooks(
    { ...parts, recordOf: plainRecord },
    { allowPrivate: config.allowPrivateUrls },
  );
  const jobs = createJobs({ ...parts, tell: webhooks.tell }, { ...config.jobs, notices });
  return {
    jobs,
    webhooks,
    close: async () => {
      await hearing?.close();
      await jobs.close();
      await webhooks.close();
    },
  };
};
