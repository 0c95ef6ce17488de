/** GET /music/{id}/stream: the id of a job and the number of a song in; the song as WAV while it renders, from its beginning, out. */
import { concat, defaultIfEmpty, defer, map, mergeMap, type Observable, of, switchMap } from 'rxjs';
import type { JobRecord } from '../../schemas/jobs.ts';
import { fail } from '../../src/errors.ts';
import { wavHeader } from '../../src/music/wav.ts';
import type { Bytes, KeyedPipeline, Reply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { conflict, readIndex, readJobId } from './job-response.ts';

/** Of a model that is no longer in the catalog: what the primary one has. */
const usualLayout = { sample_rate: 32_000, channels: 2 };

export const musicStream =
  (ports: Ports): KeyedPipeline =>
  (exchange, { subscription }) =>
    defer(() => {
      const id = readJobId('music', exchange); // 404
      const index = readIndex(new URLSearchParams(exchange.query)); // 400
      return defer(() => ports.jobs.get('music', id, subscription)).pipe(
        switchMap(({ job }) => {
          const samples = ports.jobs
            .samples(id, subscription, index, exchange.backpressure)
            .pipe(map(asBytes));
          const layout = ports.catalog.find(job.model)?.capabilities?.music?.streaming ?? usualLayout;
          const beginning = headOf(job, layout);
          // A job that has ended may have lost its samples: 404 409 before anything is said.
          if (job.status !== 'pending' && job.status !== 'in_progress') return behind(beginning, samples);
          checkStreams(job, index); // 404 409
          return concat(beginning, samples);
        }),
      );
    });

const checkStreams = ({ id, progressive, request }: JobRecord, index: number): void => {
  if (!progressive)
    throw conflict(`The job ${id} cannot be heard while it renders: its model does not stream`);
  if (index >= Number(request.n ?? 1)) throw fail('not_found', `The job ${id} has no output ${index}`);
};

/** The sizes promise the length that was asked for, the most there can be. */
const headOf = (
  { request }: JobRecord,
  { sample_rate: sampleRate, channels }: typeof usualLayout,
): Observable<Reply> => {
  const dataBytes = Number(request.duration) * sampleRate * channels * 2;
  return of<Reply[]>(
    { kind: 'head', status: 200, headers: { 'content-type': 'audio/wav', 'cache-control': 'no-store' } },
    asBytes(wavHeader({ sampleRate, channels, dataBytes })),
  );
};

/** The beginning is said with the first samples, or at their end. */
const behind = (beginning: Observable<Reply>, samples: Observable<Bytes>): Observable<Reply> =>
  samples.pipe(
    defaultIfEmpty(asBytes(Buffer.alloc(0))),
    mergeMap((bytes, position) => (position === 0 ? concat(beginning, of(bytes)) : of(bytes))),
  );

const asBytes = (bytes: Uint8Array): Bytes => ({ kind: 'bytes', bytes });
