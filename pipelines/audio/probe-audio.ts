/** The bytes of a file that should hold sound in; what it is out. 400 naming the field where it cannot be read. */
import { catchError, map, type Observable } from 'rxjs';
import { ApiError, fail } from '../../src/errors.ts';
import type { Codec, MediaFacts } from '../../src/ports/codec.ts';
import { offloaded } from '../../src/ports/offload.ts';

export interface AudioRule {
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
        ? fail('invalid_request', `${field} ${error.message}`, { cause: error })
        : error;
    }),
    map((facts) => {
      if (!facts.hasAudio) throw fail('invalid_request', `${field} holds no sound`);
      if (facts.seconds > maxSeconds)
        throw fail('invalid_request', `${field} is longer than the limit of ${maxSeconds} seconds`);
      return { bytes, container: containerOf(facts), seconds: facts.seconds };
    }),
  );

/** Sound alone in an mp4 is what others call m4a. */
const containerOf = ({ container, hasVideo }: MediaFacts): string =>
  container === 'mp4' && !hasVideo ? 'm4a' : container;
