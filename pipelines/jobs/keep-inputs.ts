/** Reads, checks and stores the media of a render, a few at a time: 400 413. */
import { catchError, from, map, mergeMap, type Observable, of, switchMap, toArray } from 'rxjs';
import { ApiError } from '../../src/errors.ts';
import { decodeInTicks } from '../../src/media/base64.ts';
import { headLength, sniffMediaType } from '../../src/media/media-type.ts';
import type { Codec, MediaFacts } from '../../src/ports/codec.ts';
import { offloaded } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { RenderInput } from '../../src/ports/render.ts';
import { lengthTolerance, type MediaLimit, mediaLimits } from '../../src/video/media-limits.ts';
import { invalid } from '../core/checks.ts';
import { FormFile } from './read-video-form.ts';
import type { WantedMedia } from './read-video-media.ts';
import type { RenderTask } from './render-task.ts';

export type InputPorts = Pick<Ports, 'media' | 'codec' | 'pictures' | 'blobs'>;

/** Inputs that were never removed, because the process ended between two steps, expire after so long. */
const keptMs = 14 * 24 * 60 * 60 * 1000;

/** So many are read at once: they are in memory. */
const atOnce = 3;

/** A blob that was written, or is being written. */
export interface KeptBlob {
  readonly name: string;
  readonly written: Promise<void>;
}

/** Emits all of them at once. Whatever comes of it, `kept` has what is to be removed again. */
export const keepInputs = (
  ports: InputPorts,
  jobId: string,
  task: RenderTask,
  kept: KeptBlob[],
): Observable<readonly RenderInput[]> =>
  from(task.media).pipe(
    mergeMap((wanted, index) => keepInput(ports, { jobId, task, kept }, wanted, index), atOnce),
    toArray(),
    map((placed) => placed.sort((one, other) => one.index - other.index).map(({ input }) => input)),
  );

interface PlacedInput {
  readonly index: number;
  readonly input: RenderInput;
}

interface Keeping {
  readonly jobId: string;
  readonly task: RenderTask;
  readonly kept: KeptBlob[];
}

const keepInput = (
  ports: InputPorts,
  { jobId, task, kept }: Keeping,
  wanted: WantedMedia,
  index: number,
): Observable<PlacedInput> =>
  readBytes(ports, wanted).pipe(
    switchMap((bytes) =>
      checkBytes(ports, wanted, bytes, task).pipe(map((mediaType) => ({ bytes, mediaType }))),
    ),
    switchMap(({ bytes, mediaType }) => {
      const blob = `inputs/${jobId}/${index}`;
      const written = ports.blobs.put(blob, bytes, { mediaType, expiresAt: Date.now() + keptMs });
      kept.push({ name: blob, written });
      const input: RenderInput = { kind: wanted.kind, use: wanted.use, blob, mediaType };
      return from(written).pipe(map(() => ({ index, input })));
    }),
  );

const readBytes = ({ media }: InputPorts, { kind, field, source }: WantedMedia): Observable<Buffer> =>
  source instanceof FormFile
    ? of(source.bytes)
    : media
        .read(source, { field, maxBytes: mediaLimits[kind].maxBytes })
        .pipe(switchMap(({ base64 }) => offloaded((signal) => decodeInTicks(base64, signal))));

/** Emits the type that the bytes have, whatever they are called, once all of them were read. */
const checkBytes = (
  ports: InputPorts,
  wanted: WantedMedia,
  bytes: Buffer,
  task: RenderTask,
): Observable<string> => {
  const { kind, field, use } = wanted;
  const limit = mediaLimits[kind];
  if (bytes.length === 0) throw invalid(`${field} is empty`);
  const type = sniffMediaType(bytes.subarray(0, headLength)) ?? 'something else';
  if (!limit.types.includes(type)) throw invalid(`${field} must be ${limit.described}, not ${type}`);
  if (limit.maxPixels !== undefined)
    return checkPicture(ports, bytes, limit.maxPixels, field).pipe(map(() => type));
  return offloaded((signal) => probe(ports.codec, bytes, field, signal)).pipe(
    map((facts) => {
      checkFacts(facts, limit, kind, field);
      if (kind === 'video' && use === 'reference') checkStart(task, facts, field);
      return type;
    }),
  );
};

const checkPicture = (
  { pictures }: InputPorts,
  bytes: Buffer,
  maxPixels: number,
  field: string,
): Observable<unknown> =>
  offloaded((signal) => pictures.verify(bytes, maxPixels, signal)).pipe(
    catchError((error: unknown) => {
      throw error instanceof ApiError && error.kind === 'invalid_request'
        ? invalid(`${field} ${error.message}`, { cause: error })
        : error;
    }),
  );

const probe = async (
  codec: Codec,
  bytes: Buffer,
  field: string,
  signal: AbortSignal,
): Promise<MediaFacts> => {
  try {
    return await codec.probe(bytes, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'invalid_request') throw error;
    throw invalid(`${field} cannot be read: ${error.message}`, { cause: error });
  }
};

const checkFacts = (
  facts: MediaFacts,
  { seconds, described }: MediaLimit,
  kind: WantedMedia['kind'],
  field: string,
): void => {
  if (kind === 'video' ? !facts.hasVideo : !facts.hasAudio) throw invalid(`${field} must be ${described}`);
  if (seconds === undefined) return;
  const { min, max } = seconds;
  if (facts.seconds < min - lengthTolerance || facts.seconds > max + lengthTolerance)
    throw invalid(`${field} must be ${min} to ${max} seconds long, not ${facts.seconds.toFixed(1)}`);
};

const checkStart = ({ call, startTimeField }: RenderTask, facts: MediaFacts, field: string): void => {
  const start = call.type === 'video' ? call.startTimeSeconds : undefined;
  if (start !== undefined && start >= facts.seconds)
    throw invalid(`${startTimeField} must be before the end of ${field}`);
};
