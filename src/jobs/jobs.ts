/** Store, files, engines and what tells of endings in; the Jobs port out, with a worker in this process that renders them. */
import type { Logger } from 'pino';
import { defer, from, type Observable, switchMap } from 'rxjs';
import type { JobRecord } from '../../schemas/jobs.ts';
import { fail } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { Engines } from '../ports/engine.ts';
import type { Jobs, JobType, JobView } from '../ports/jobs.ts';
import type { State } from '../ports/state.ts';
import type { UsageLog } from '../ports/usage.ts';
import { doChores } from './chores.ts';
import { listen } from './listen.ts';
import { createQueuePlace, newRecord } from './new-record.ts';
import { Notices } from './notices.ts';
import { cancelJob, deleteFiles, deleteJob } from './remove.ts';
import { createSettle, type Tell } from './settle.ts';
import { Slots } from './slots.ts';
import { JobStore, type StoredJob } from './store.ts';
import { startSweep } from './sweep.ts';
import { endingOf } from './transitions.ts';
import { viewOf } from './view.ts';
import { Worker } from './worker.ts';

export interface JobParts {
  readonly state: State;
  readonly blobs: Blobs;
  readonly catalog: Catalog;
  readonly engines: Engines;
  readonly usage: UsageLog;
  readonly tell: Tell;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

export interface JobSettings {
  /** Renders of this process at once; 0: they are left to other processes. */
  readonly renders: number;
  /** How long outputs are kept. */
  readonly keptMs: number;
  /** How long a render may take. */
  readonly longestMs: number;
  readonly now?: () => number;
  readonly notices?: Notices;
  /** Milliseconds: a worker's signs of life, how long others wait for one, looks at the queues, at chores, for samples. */
  readonly beatMs?: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
  readonly choresMs?: number;
  readonly lookMs?: number;
}

export interface RunningJobs extends Jobs {
  /** Renders under way in this process. */
  rendering(): number;
}

export const createJobs = (parts: JobParts, settings: JobSettings): RunningJobs => {
  const { blobs, catalog, engines, log, publicUrl } = parts;
  const { now = Date.now, notices = new Notices(), beatMs = 3_000, leaseMs = 15_000 } = settings;
  const store = new JobStore(parts.state);
  const settle = createSettle({ store, blobs, usage: parts.usage, tell: parts.tell });
  const worker = new Worker(
    {
      store,
      blobs,
      catalog,
      engines,
      settle,
      notices,
      log,
      now,
      beatMs,
      keptMs: settings.keptMs,
      longestMs: settings.longestMs,
    },
    new Slots(parts.state, { now, leaseMs }),
    { renders: settings.renders, pollMs: settings.pollMs ?? 1_000, leaseMs },
  );
  const stopHearing = notices.hear((job, notice) => {
    if (notice === 'ended') worker.stop(job);
    // A job came, or a slot may have become free.
    if (notice === 'queued' || notice === 'ended') worker.wake();
  });
  const sweep = startSweep(
    () => doChores({ store, blobs, settle, notices, log, now }),
    log,
    settings.choresMs,
  );
  const queuePlace = createQueuePlace();

  const view = (job: JobRecord): Promise<JobView> =>
    viewOf(job, { store, done: worker.done(job.id), now: now() });

  /** Where the answer was lost the job may be there all the same: nobody is to pay for one that he was told is not. */
  const keep = (record: JobRecord): Promise<boolean> =>
    store.create(record).catch(async (error: unknown) => {
      if ((await store.get(record.id).catch(() => undefined)) === undefined) throw error;
      return true;
    });

  const find = async (type: JobType, id: string, subscription: string): Promise<StoredJob> => {
    const record = isId(type, id) ? await store.get(id) : undefined;
    if (record?.owner !== subscription) throw fail('not_found', `There is no ${type} job ${shown(id)}`);
    return record;
  };

  return {
    create: async (job) => {
      const created = now();
      const record = newRecord(job, created, queuePlace(created), publicUrl());
      if (!(await keep(record))) throw fail('conflict', `${job.id} is there already`);
      notices.tell(record, 'queued');
      return view(record);
    },

    get: async (type, id, subscription) => view((await find(type, id, subscription)).value),

    list: async (type, subscription, page) => {
      const records = await store.list(type, subscription, page);
      return Promise.all(records.map(({ value }) => view(value)));
    },

    remove: async (type, id, subscription) => {
      const removing = { store, settle, now };
      const record = await find(type, id, subscription);
      if (endingOf(record.value) === undefined) {
        const cancelled = await cancelJob(removing, record);
        notices.tell(cancelled.value, 'ended');
        await settle(cancelled).catch((error: unknown) =>
          log.warn({ err: error, job: id }, 'a cancelled job is settled later'),
        );
        return view(cancelled.value);
      }
      const deleted = await deleteJob(removing, record);
      await deleteFiles(blobs, deleted).catch((error: unknown) =>
        log.warn({ err: error, job: id }, 'files of a deleted job go when their time is over'),
      );
      return 'deleted';
    },

    samples: (id, subscription, output, backpressure): Observable<Uint8Array> =>
      defer(() => from(find('music', id, subscription))).pipe(
        switchMap(({ value }) =>
          listen({ store, blobs, notices, now, lookMs: settings.lookMs ?? 500 }, value, output, backpressure),
        ),
      ),

    rendering: () => worker.rendering,

    close: async () => {
      stopHearing();
      await sweep.stop();
      await worker.close();
    },
  };
};

const isId = (type: JobType, id: string): boolean => new RegExp(`^${type}_[0-9a-f]{24}$`).test(id);
const shown = (id: string): string => (id.length > 60 ? `${id.slice(0, 60)}…` : id);
