/** The Jobs port, with a worker in this process that renders them. */
import type { Logger } from 'pino';
import { defer, from, type Observable, switchMap } from 'rxjs';
import type { JobRecord } from '../../schemas/jobs.ts';
import { fail } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Engines } from '../ports/engines/engine.ts';
import type { Jobs, JobsOfAll, JobType, JobView } from '../ports/jobs.ts';
import type { Quotas } from '../ports/quotas.ts';
import type { Shared } from '../ports/shared.ts';
import type { State } from '../ports/state.ts';
import type { UsageLog } from '../ports/usage.ts';
import { cancelJob, deleteFiles, deleteJob } from './apply-transitions.ts';
import { createQueuePlace, newRecord, viewOf } from './job-record.ts';
import type { OutputCodec } from './keep-output.ts';
import { listen } from './listen.ts';
import { startMaintenance } from './maintenance.ts';
import { Notices } from './notices.ts';
import { createSettle, type Notify } from './settle.ts';
import { createSlots } from './slots.ts';
import { JobStore, type StoredJob } from './store.ts';
import { endingOf } from './transitions.ts';
import { Worker } from './worker.ts';

export interface JobParts {
  readonly state: State;
  readonly blobs: Blobs;
  /** Looks at what engines rendered. */
  readonly codec: Shared<OutputCodec>;
  readonly catalog: Catalog;
  readonly engines: Engines;
  readonly usage: UsageLog;
  readonly quotas: Pick<Quotas, 'settleJob'>;
  readonly notify: Notify;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

export interface JobSettings {
  /** Renders of this process at once; 0: none, other processes render. */
  readonly renders: number;
  /** How long outputs are kept. */
  readonly keptMs: number;
  /** How long a render may take. */
  readonly longestMs: number;
  readonly now?: () => number;
  readonly notices?: Notices;
  /** Milliseconds: between heartbeats, until a lease expires, between polls of queues, maintenance and samples. */
  readonly heartbeatMs?: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
  readonly maintenanceMs?: number;
  readonly samplePollMs?: number;
}

export interface RunningJobs extends Jobs, JobsOfAll {
  /** Running renders of this process. */
  rendering(): number;
}

export const createJobs = (parts: JobParts, settings: JobSettings): RunningJobs => {
  const { blobs, codec, catalog, engines, log, publicUrl } = parts;
  const { now = Date.now, notices = new Notices(), heartbeatMs = 3_000, leaseMs = 15_000 } = settings;
  const store = new JobStore(parts.state);
  const settle = createSettle({ ...parts, store });
  const worker = new Worker(
    {
      store,
      blobs,
      codec,
      catalog,
      engines,
      settle,
      notices,
      log,
      now,
      heartbeatMs,
      keptMs: settings.keptMs,
      longestMs: settings.longestMs,
    },
    createSlots(parts.state, { now, leaseMs }),
    { renders: settings.renders, pollMs: settings.pollMs ?? 1_000, leaseMs },
  );
  const unsubscribe = notices.subscribe((job, notice) => {
    if (notice === 'ended') worker.stop(job);
    // A new job, or a slot that may have become free.
    if (notice === 'queued' || notice === 'ended') worker.wake();
  });
  const maintenance = startMaintenance({ store, blobs, settle, notices, log, now }, settings.maintenanceMs);
  const queuePlace = createQueuePlace();

  const view = (job: JobRecord): Promise<JobView> =>
    viewOf(job, { store, done: worker.done(job.id), now: now() });

  /** Where the response was lost the job may exist all the same: nobody may pay for one that was reported as failed. */
  const create = (record: JobRecord): Promise<boolean> =>
    store.create(record).catch(async (error: unknown) => {
      if ((await store.get(record.id).catch(() => undefined)) === undefined) throw error;
      return true;
    });

  const find = async (type: JobType, id: string, subscription: string): Promise<StoredJob> => {
    const record = isId(type, id) ? await store.get(id) : undefined;
    if (record?.owner !== subscription) throw fail('not_found', `There is no ${type} job ${shown(id)}`);
    return record;
  };

  const findOfAny = async (id: string): Promise<StoredJob> => {
    const record = isId('video', id) || isId('music', id) ? await store.get(id) : undefined;
    if (record === undefined) throw fail('not_found', `There is no job ${shown(id)}`);
    return record;
  };

  const removing = { store, settle, now };

  const cancel = async (record: StoredJob): Promise<JobView> => {
    const cancelled = await cancelJob(removing, record);
    notices.publish(cancelled.value, 'ended');
    await settle(cancelled).catch((error: unknown) =>
      log.warn({ err: error, job: record.id }, 'job not settled: retried later'),
    );
    return view(cancelled.value);
  };

  return {
    create: async (job) => {
      const created = now();
      const record = newRecord(job, created, queuePlace(created), publicUrl());
      if (!(await create(record))) throw fail('conflict', `${job.id} is there already`);
      notices.publish(record, 'queued');
      return view(record);
    },

    get: async (type, id, subscription) => view((await find(type, id, subscription)).value),

    list: async (type, subscription, page) => {
      const records = await store.list(type, subscription, page);
      return Promise.all(records.map(({ value }) => view(value)));
    },

    listAll: async (type, subscription, page) => {
      const records = await store.list(type, subscription, page);
      return Promise.all(records.map(({ value }) => view(value)));
    },

    getOfAny: async (id) => view((await findOfAny(id)).value),

    cancel: async (id) => {
      const record = await findOfAny(id);
      if (endingOf(record.value) !== undefined)
        throw fail('conflict', `${id} has ended: it is ${record.value.status}`);
      return cancel(record);
    },

    remove: async (type, id, subscription) => {
      const record = await find(type, id, subscription);
      if (endingOf(record.value) === undefined) return cancel(record);
      const deleted = await deleteJob(removing, record);
      await deleteFiles(blobs, deleted).catch((error: unknown) =>
        log.warn({ err: error, job: id }, 'files of a deleted job not removed: they expire'),
      );
      return 'deleted';
    },

    samples: (id, subscription, output, backpressure): Observable<Uint8Array> =>
      defer(() => from(find('music', id, subscription))).pipe(
        switchMap(({ value }) =>
          listen(
            { store, blobs, notices, now, samplePollMs: settings.samplePollMs ?? 500 },
            value,
            output,
            backpressure,
          ),
        ),
      ),

    rendering: () => worker.rendering,

    close: async () => {
      unsubscribe();
      await maintenance.close();
      await worker.close();
    },
  };
};

const isId = (type: JobType, id: string): boolean => new RegExp(`^${type}_[0-9a-f]{24}$`).test(id);
const shown = (id: string): string => (id.length > 60 ? `${id.slice(0, 60)}…` : id);
