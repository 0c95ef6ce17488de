/** POST /music, which starts a job that renders songs, GET /music/models and GET /music/{id}/stream. */
import { concat, defaultIfEmpty, from, map, mergeMap, type Observable, of } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { JobRecord } from '../../schemas/jobs.ts';
import { type MusicModels, MusicRequest, musicSettings } from '../../schemas/music.ts';
import { fail } from '../../src/errors.ts';
import { type MusicSpec, validMusicSpec } from '../../src/music/spec.ts';
import { wavHeader } from '../../src/music/wav.ts';
import type { Bytes, KeyedPipeline, KeyedRequest, Reply } from '../../src/ports/exchange.ts';
import type { Jobs } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { noAccount } from '../core/account.ts';
import { admit, withAccount } from '../core/admit.ts';
import { compose } from '../core/compose.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import type { Step } from '../core/stage.ts';
import { validate } from '../core/validate.ts';
import { specifiedModels } from '../models/list.ts';
import { type OutputName, readOutput } from './content.ts';
import { conflict, replyJob } from './jobs.ts';
import { readMusicRequest } from './read-music-request.ts';
import { declaredSettings } from './render-settings.ts';
import { checkCallback, startJob } from './start-job.ts';

const musicRequest = validate(MusicRequest);

export const musicCreate = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload, 'invalid_request', 'seed'), // 400 says where
    musicRequest, // 400 names the field
    resolveModel(ports.catalog, 'music'), // 404
    readMusicRequest, // 400 names the field, 503 without a spec
    checkCallback(ports.allowPrivateUrls), // 400
    // 429 after waiting its turn; the slot is held until the job exists, not while it renders
    admit(
      ports.admission,
      compose(
        withAccount(
          ports,
          noAccount,
          compose(startJob(ports)), // 429 when it could exceed a budget, 503
        ),
      ),
    ),
    replyJob(ports, 202),
  );

/** A song as WAV while it renders, from its beginning. */
export const musicStream = (ports: Ports): KeyedPipeline =>
  compose(
    readOutput('music'), // 404, 400 names the parameter
    findSong(ports.jobs), // 404
    streamSong(ports), // 404 409 before the first bytes
  );

interface Song {
  readonly job: JobRecord;
  readonly index: number;
}

const findSong =
  (jobs: Jobs): Step<OutputName, Song, KeyedRequest> =>
  ({ id, index }, { caller }) =>
    from(jobs.get('music', id, caller.subscription)).pipe(map(({ job }) => ({ job, index })));

/** Of a model that is no longer in the catalog: what the primary one has. */
const usualLayout = { sample_rate: 32_000, channels: 2 };

const streamSong =
  ({ jobs, catalog }: Pick<Ports, 'jobs' | 'catalog'>): Step<Song, Reply, KeyedRequest> =>
  ({ job, index }, { exchange, caller }) => {
    const samples = jobs
      .samples(job.id, caller.subscription, index, exchange.backpressure)
      .pipe(map(asBytes));
    const head = wavHead(job, catalog.find(job.model)?.capabilities?.music?.streaming ?? usualLayout);
    // A job that has ended may have lost its samples: the error must come before the head.
    if (job.status !== 'pending' && job.status !== 'in_progress') return headBefore(head, samples);
    checkStreams(job, index);
    return concat(head, samples);
  };

const checkStreams = ({ id, progressive, request }: JobRecord, index: number): void => {
  if (!progressive)
    throw conflict(`The job ${id} cannot be heard while it renders: its model does not stream`);
  if (index >= Number(request.n ?? 1)) throw fail('not_found', `The job ${id} has no output ${index}`);
};

/** The sizes are those of the requested length, which is the maximum. */
const wavHead = (
  { request }: JobRecord,
  { sample_rate: sampleRate, channels }: typeof usualLayout,
): Observable<Reply> => {
  const dataBytes = Number(request.duration) * sampleRate * channels * 2;
  return of<Reply[]>(
    { kind: 'head', status: 200, headers: { 'content-type': 'audio/wav', 'cache-control': 'no-store' } },
    asBytes(wavHeader({ sampleRate, channels, dataBytes })),
  );
};

/** Sends the head with the first samples, or at their end. */
const headBefore = (head: Observable<Reply>, samples: Observable<Bytes>): Observable<Reply> =>
  samples.pipe(
    defaultIfEmpty(asBytes(Buffer.alloc(0))),
    mergeMap((bytes, position) => (position === 0 ? concat(head, of(bytes)) : of(bytes))),
  );

const asBytes = (bytes: Uint8Array): Bytes => ({ kind: 'bytes', bytes });

type Entry = MusicModels['data'][number];

const entryOf = (model: Model, spec: MusicSpec): Entry => ({
  id: model.id,
  canonical_slug: model.id,
  name: model.name,
  description: model.description,
  created: model.created,
  supported_durations: spec.duration,
  supported_response_formats: spec.formats,
  seed: model.supported_parameters.includes('seed'),
  lyrics: spec.max_lyrics !== undefined && model.supported_parameters.includes('lyrics'),
  streaming: spec.streaming,
  pricing_skus: { second: model.pricing.completion },
  allowed_passthrough_parameters: [...declaredSettings(musicSettings, model)],
});

export const musicModels = specifiedModels('music', validMusicSpec, entryOf);
