/** Maintenance of ended jobs: settles, expires and deletes them when due; any process may run it. */
import type { Logger } from 'pino';
import { PollLoop } from '../helpers/poll-loop.ts';
import type { Blobs } from '../ports/blobs.ts';
import { outputsOf } from './job-record.ts';
import type { Notices } from './notices.ts';
import { deleteSamples } from './sample-store.ts';
import type { Settle } from './settle.ts';
import type { JobStore, StoredJob } from './store.ts';
import { expire, maintenanceOf } from './transitions.ts';

interface MaintenanceParts {
  readonly store: JobStore;
  readonly blobs: Blobs;
  readonly settle: Settle;
  readonly notices: Notices;
  readonly log: Logger;
  readonly now: () => number;
}

/** Jobs of one round. */
const batch = 100;

/** Rounds in a row while there is something to do. */
const maxRounds = 100;

export const startMaintenance = (parts: MaintenanceParts, intervalMs = 5_000): PollLoop => {
  const loop = new PollLoop(
    intervalMs,
    async () => {
      for (let round = 0; round < maxRounds && !loop.closed && (await runMaintenance(parts)) > 0; round++);
    },
    (error) => parts.log.warn({ err: error }, 'job maintenance failed'),
  );
  return loop;
};

/** Returns how many jobs were maintained. */
export const runMaintenance = async (parts: MaintenanceParts): Promise<number> => {
  const { store, log, now } = parts;
  const found = await store.maintenanceDue(now(), batch);
  let done = 0;
  for (const record of found) {
    try {
      await maintain(parts, record);
      done++;
    } catch (error) {
      log.warn({ err: error, job: record.id }, 'job maintenance failed');
    }
  }
  return done;
};

const maintain = async (
  { store, blobs, settle, notices, now }: MaintenanceParts,
  record: StoredJob,
): Promise<void> => {
  const job = record.value;
  const task = maintenanceOf(job)?.task;
  if (task === 'settle') await settle(record);
  if (task === 'delete samples') {
    await deleteSamples(blobs, job.id, job.attempts, outputsOf(job));
    await store.update(record, { ...job, samples_gone: true });
  }
  if (task === 'delete') await store.remove(record);
  if (task === 'expire') {
    const next = expire(job, now());
    const expired = next && (await store.update(record, next));
    if (expired === undefined) return;
    notices.publish(expired.value, 'ended');
    await settle(expired);
  }
};
