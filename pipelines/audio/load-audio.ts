/** Decodes and probes the audio of an admitted request: 400 or 413 names the field. */
import { catchError, map, type Observable, of } from 'rxjs';
import { ApiError } from '../../src/errors.ts';
import { decodeInTicks } from '../../src/media/base64.ts';
import type { Codec, MediaFacts } from '../../src/ports/codec.ts';
import type { Base64, Media, MediaRule } from '../../src/ports/media.ts';
import { offloaded } from '../../src/ports/offload.ts';
import { invalid } from '../core/checks.ts';

/** Characters that are decoded on the spot. */
const small = 256 * 1024;

/** What can be said before it is decoded. */
export const checkAudio = (data: unknown, field: string): Base64 => {
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) throw invalid(`${field} must be a string`);
  const start =
    typeof data === 'string' ? data.slice(0, 8) : Buffer.from(data.subarray(0, 8)).toString('latin1');
  if (/^data:/i.test(start)) throw invalid(`${field} must be raw base64, not a data URI`);
  if (/^https?:/i.test(start)) throw invalid(`${field} must be raw base64; URLs are not accepted`);
  return data;
};

export const decodeAudio = (media: Media, data: Base64, rule: MediaRule): Observable<Buffer> => {
  const decoded = media.decode(data, rule);
  return data.length <= small
    ? of(decoded.bytes)
    : offloaded((signal) => decodeInTicks(decoded.base64, signal));
};

interface AudioRule {
  /** Named in every error. */
  readonly field: string;
  readonly maxSeconds: number;
}

export interface Audio {
  readonly bytes: Buffer;
  readonly container: string;
  readonly seconds: number;
}

export const probeAudio = (
  codec: Codec,
  bytes: Buffer,
  { field, maxSeconds }: AudioRule,
): Observable<Audio> =>
  offloaded((signal) => codec.probe(bytes, signal)).pipe(
    catchError((error: unknown) => {
      throw error instanceof ApiError && error.kind === 'invalid_request'
        ? invalid(`${field} ${error.message}`, { cause: error })
        : error;
    }),
    map((facts) => {
      if (!facts.hasAudio) throw invalid(`${field} holds no sound`);
      if (facts.seconds > maxSeconds)
        throw invalid(`${field} is longer than the limit of ${maxSeconds} seconds`);
      return { bytes, container: containerOf(facts), seconds: facts.seconds };
    }),
  );

/** An mp4 without video is called m4a. */
const containerOf = ({ container, hasVideo }: MediaFacts): string =>
  container === 'mp4' && !hasVideo ? 'm4a' : container;
