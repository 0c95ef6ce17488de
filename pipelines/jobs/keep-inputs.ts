/** Reads, checks and stores the media of a render, a few at a time: 400 413. */
import { catchError, from, map, mergeMap, type Observable, of, switchMap, toArray } from 'rxjs';
import { ApiError } from '../../src/errors.ts';
import { decodeInTicks } from '../../src/media/base64.ts';
import { headLength, sniffMediaType } from '../../src/media/media-type.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import type { Codec, MediaFacts } from '../../src/ports/codec.ts';
import type { RenderInput } from '../../src/ports/engines/render.ts';
import type { Caller } from '../../src/ports/exchange.ts';
import type { Media } from '../../src/ports/media.ts';
import { offloaded } from '../../src/ports/offload.ts';
import type { Pictures } from '../../src/ports/pictures.ts';
import type { Ports } from '../../src/ports/ports.ts';
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

interface Keeping {
  /** Of the job. */
  readonly id: string;
  readonly caller: Caller;
  readonly task: RenderTask;
  /** Whatever comes of it: what is to be removed again. */
  readonly kept: KeptBlob[];
}

/** Emits all of them at once. */
export const keepInputs = (ports: InputPorts, keeping: Keeping): Observable<readonly RenderInput[]> => {
  const { subscription } = keeping.caller;
  const own: OwnPorts = {
    media: ports.media.for(subscription),
    codec: ports.codec.for(subscription),
    pictures: ports.pictures.for(subscription),
    blobs: ports.blobs,
  };
  return from(keeping.task.media).pipe(
    mergeMap((wanted, index) => keepInput(own, keeping, wanted, index), atOnce),
    toArray(),
    map((placed) => placed.sort((one, other) => one.index - other.index).map(({ input }) => input)),
  );
};

/** The ports as the subscription of the job has them. */
interface OwnPorts {
  readonly media: Media;
  readonly codec: Codec;
  readonly pictures: Pictures;
  readonly blobs: Blobs;
}

interface PlacedInput {
  readonly index: number;
  readonly input: RenderInput;
}

const keepInput = (
  ports: OwnPorts,
  { id, task, kept }: Keeping,
  wanted: WantedMedia,
  index: number,
): Observable<PlacedInput> =>
  readBytes(ports, wanted).pipe(
    switchMap((bytes) =>
      checkBytes(ports, wanted, bytes, task).pipe(map((mediaType) => ({ bytes, mediaType }))),
    ),
    switchMap(({ bytes, mediaType }) => {
      const blob = `inputs/${id}/${index}`;
      const written = ports.blobs.put(blob, bytes, { mediaType, expiresAt: Date.now() + keptMs });
      kept.push({ name: blob, written });
      const input: RenderInput = { kind: wanted.kind, use: wanted.use, blob, mediaType };
      return from(written).pipe(map(() => ({ index, input })));
    }),
  );

const readBytes = ({ media }: OwnPorts, { kind, field, source }: WantedMedia): Observable<Buffer> =>
  source instanceof FormFile
    ? of(source.bytes)
    : media
        .read(source, { field, maxBytes: mediaLimits[kind].maxBytes })
        .pipe(switchMap(({ base64 }) => offloaded((signal) => decodeInTicks(base64, signal))));

/** Emits the type that the bytes have, whatever they are called, once all of them were read. */
const checkBytes = (
  ports: OwnPorts,
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
  { pictures }: OwnPorts,
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
