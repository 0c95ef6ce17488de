/** Verifies an engine's output, converts it where it is not what was promised, and stores it. */
import { firstValueFrom, merge, Observable } from 'rxjs';
import type { JobOutput } from '../../schemas/jobs.ts';
import { ApiError } from '../errors.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Codec, MediaFacts, MediaFile } from '../ports/codec.ts';
import { type RenderCall, RenderError } from '../ports/engines/render.ts';
import { fitOutput, promisedType } from './output-format.ts';
import { retryUnavailable } from './retry-unavailable.ts';

export type OutputCodec = Pick<Codec, 'spool' | 'verify' | 'convert'>;

interface Keeping {
  readonly codec: OutputCodec;
  readonly blobs: Pick<Blobs, 'write'>;
  readonly call: RenderCall;
  readonly blob: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  readonly signal: AbortSignal;
}

/** Above any clip or song that a catalog can promise. */
const mostBytes = 512 * 1024 * 1024;
const convertTimeoutMs = 5 * 60_000;
const maxBusyMs = 5 * 60_000;

/** The engine rendered something that nobody could play; `fault` goes on from the output. */
export class UnusableOutput extends RenderError {
  constructor(fault: string, options?: ErrorOptions) {
    super('render_failed', `The engine's output ${fault}`, options);
    this.name = 'UnusableOutput';
  }
}

/** An output on its way from the engine. */
interface SentOutput {
  readonly index: number;
  readonly bytes: Observable<Uint8Array>;
  /** Of `bytes`. */
  readonly backpressure: Backpressure;
}

/** Rejects with `UnusableOutput` for what nobody could play. */
export const keepOutput = async (
  { index, bytes, backpressure }: SentOutput,
  keeping: Keeping,
): Promise<JobOutput> => {
  const files: MediaFile[] = [];
  try {
    const sent = await spool(bytes, backpressure, keeping, files);
    const facts = await verify(sent, keeping);
    const fitting = fitOutput(keeping.call, facts);
    if ('fault' in fitting) throw new UnusableOutput(fitting.fault);
    if (fitting.arguments === undefined) return await store(sent, facts, index, keeping);
    const made = await convert(sent, fitting.arguments, keeping, files);
    return await store(made, await verify(made, keeping), index, keeping);
  } finally {
    for (const file of files) await file.remove();
  }
};

const spool = async (
  bytes: Observable<Uint8Array>,
  backpressure: Backpressure,
  { codec, signal }: Keeping,
  files: MediaFile[],
): Promise<MediaFile> => {
  const file = await codec
    .spool(bytes, { maxBytes: mostBytes, backpressure, signal })
    .catch(explain('payload_too_large'));
  files.push(file);
  return file;
};

const verify = (file: MediaFile, { codec, signal }: Keeping): Promise<MediaFacts> =>
  // A finished render must not fail because other sound and video is being read.
  retryUnavailable(() => codec.verify(file, signal), maxBusyMs, signal).catch(explain('invalid_request'));

const convert = (
  file: MediaFile,
  words: readonly string[],
  keeping: Keeping,
  files: MediaFile[],
): Promise<MediaFile> => {
  const conversion = {
    arguments: words,
    seekableOutput: true,
    maxBytes: mostBytes,
    timeoutMs: convertTimeoutMs,
  };
  const backpressure = new Backpressure();
  const made = keeping.codec.convert(file, conversion, backpressure);
  return spool(made, backpressure, keeping, files).catch(explain('invalid_request'));
};

const store = async (
  file: MediaFile,
  facts: MediaFacts,
  index: number,
  { blobs, call, blob, expiresAt, signal }: Keeping,
): Promise<JobOutput> => {
  const mediaType = promisedType(call);
  const backpressure = new Backpressure();
  const written = blobs.write(blob, file.read(backpressure), { backpressure, mediaType, expiresAt });
  const { size } = await firstValueFrom(merge(written, aborted(signal)));
  return { index, blob, media_type: mediaType, size_bytes: size, ...shownFacts(call, facts) };
};

/** Of the file, never of the request. */
const shownFacts = (
  call: RenderCall,
  facts: MediaFacts,
): Omit<JobOutput, 'index' | 'blob' | 'media_type' | 'size_bytes'> => {
  if (call.type === 'music') return { duration: rounded(facts.seconds) };
  const { width = 0, height = 0, fps = 0, hasAudio: audio } = facts;
  return { duration: rounded(clipSeconds(facts)), width, height, fps, audio };
};

/** Sound is padded to whole frames of its encoder: the clip is as long as its pictures. */
const clipSeconds = ({ seconds, frames = 0, fps = 0 }: MediaFacts): number => {
  const pictures = fps === 0 ? 0 : frames / fps;
  return Math.abs(pictures - seconds) < paddedSeconds ? pictures : seconds;
};

const paddedSeconds = 0.25;
const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** Errors of this kind are about the file; all others, such as a lost connection, stay what they are. */
const explain =
  (kind: ApiError['kind']) =>
  (error: unknown): never => {
    throw error instanceof ApiError && error.kind === kind
      ? new UnusableOutput(error.message, { cause: error })
      : error;
  };

/** Errors with the signal's reason. */
export const aborted = (signal: AbortSignal): Observable<never> =>
  new Observable((subscriber) => {
    const stop = (): void => subscriber.error(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    return () => signal.removeEventListener('abort', stop);
  });
