/** Ended jobs whose time has come in; settled, without their samples, expired, forgotten out. Any process may do it, several at once too. */
import type { Logger } from 'pino';
import type { Blobs } from '../ports/blobs.ts';
import { outputsOf } from './call.ts';
import type { Notices } from './notices.ts';
import { forgetSamples } from './sample-store.ts';
import type { Settle } from './settle.ts';
import type { JobStore, StoredJob } from './store.ts';
import { choreOf, expire } from './transitions.ts';

export interface ChoreParts {
  readonly store: JobStore;
  readonly blobs: Blobs;
  readonly settle: Settle;
  readonly notices: Notices;
  readonly log: Logger;
  readonly now: () => number;
}

/** Taken at once; what is left is found again at once. */
const portion = 100;

export const doChores = async (parts: ChoreParts): Promise<number> => {
  const { store, log, now } = parts;
  const found = await store.chores(now(), portion);
  let done = 0;
  for (const record of found) {
    try {
      await doChore(parts, record);
      done++;
    } catch (error) {
      log.warn({ err: error, job: record.id }, 'an ended job cannot be seen to now');
    }
  }
  return done;
};

const doChore = async (
  { store, blobs, settle, notices, now }: ChoreParts,
  record: StoredJob,
): Promise<void> => {
  const job = record.value;
  const chore = choreOf(job)?.chore;
  if (chore === 'settle') await settle(record);
  if (chore === 'forget samples') {
    await forgetSamples(blobs, job.id, job.attempts, outputsOf(job));
    await store.move(record, { ...job, samples_gone: true });
  }
  if (chore === 'forget') await store.remove(record);
  if (chore === 'expire') {
    const next = expire(job, now());
    const expired = next && (await store.move(record, next));
    if (expired === undefined) return;
    notices.tell(expired.value, 'ended');
    await settle(expired);
  }
};
