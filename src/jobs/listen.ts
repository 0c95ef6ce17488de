/** Streams the samples of a music job from the start, while it renders, with backpressure. */
import { concatMap, defer, EMPTY, finalize, from, map, type Observable, of, repeat } from 'rxjs';
import type { JobRecord } from '../../schemas/jobs.ts';
import { fail } from '../errors.ts';
import type { Backpressure } from '../ports/backpressure.ts';
import type { Blobs } from '../ports/blobs.ts';
import { outputsOf } from './job-record.ts';
import type { Notices } from './notices.ts';
import { pieceName } from './sample-store.ts';
import type { JobStore } from './store.ts';
import { endingOf, samplesKeptMs } from './transitions.ts';

interface ListenParts {
  readonly store: JobStore;
  readonly blobs: Blobs;
  readonly notices: Notices;
  readonly now: () => number;
  /** Milliseconds between polls for samples that another process renders. */
  readonly samplePollMs: number;
}

/** `job` is known to be the caller's. */
export const listen = (
  { store, blobs, notices, now, samplePollMs }: ListenParts,
  job: JobRecord,
  output: number,
  backpressure: Backpressure,
): Observable<Uint8Array> =>
  defer(() => {
    const problem = refusal(job, output, now());
    if (problem !== undefined) throw problem;
    let { attempts } = job;
    let number = 0;
    let ended = false;
    let unsubscribed = false;

    /** The next piece's name; undefined when there will be none. */
    const next = async (): Promise<string | undefined> => {
      while (!unsubscribed) {
        // Read before the piece: the last piece is found even if the job ends in between.
        const current = (await store.get(job.id))?.value;
        if (current === undefined) return undefined;
        if (current.attempts !== attempts && number > 0)
          throw fail('conflict', 'The render was begun again: connect again to hear it from the start');
        attempts = current.attempts;
        const name = pieceName(job.id, attempts, output, number);
        if (attempts > 0 && (await blobs.stat(name)) !== undefined) {
          number++;
          return name;
        }
        if (endingOf(current) !== undefined) return undefined;
        await notices.wait(job.id, samplePollMs);
      }
      return undefined;
    };

    const piece = defer(() => from(next())).pipe(
      concatMap((name) => {
        ended = name === undefined;
        return name === undefined ? EMPTY : blobs.read(name, backpressure);
      }),
      map((bytes): Uint8Array => bytes),
    );
    return piece.pipe(
      repeat({ delay: () => (ended ? EMPTY : of(true)) }),
      finalize(() => {
        unsubscribed = true;
      }),
    );
  });

const refusal = (job: JobRecord, output: number, now: number) => {
  if (job.status === 'expired') return fail('not_found', `${job.id} has expired`);
  if (!job.progressive) return conflict(`The model of ${job.id} does not stream: read its content instead`);
  if (output >= outputsOf(job)) return fail('not_found', `${job.id} has no output ${output}`);
  const over = (job.ended ?? now) + samplesKeptMs <= now || job.samples_gone === true;
  if (endingOf(job) !== undefined && (over || job.attempts === 0))
    return conflict(`The stream of ${job.id} is no longer kept: read its content instead`);
  return undefined;
};

const conflict = (message: string) => fail('conflict', message);
