/** Prepares the input of ffmpeg: a pipe, or a private file for formats that must be seekable. */
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Observable, Subscription } from 'rxjs';
import { fail } from '../errors.ts';
import { headLength, sniffMediaType } from '../media/media-type.ts';
import { Backpressure } from '../ports/backpressure.ts';

export interface OpenInput {
  readonly arguments: readonly string[];
  /** What goes through the pipe. */
  readonly bytes: Observable<Uint8Array> | Uint8Array | undefined;
  readonly container: string | undefined;
}

export type InputSource = Observable<Uint8Array> | Uint8Array | undefined;

interface InputOptions {
  /** Bytes of a stream that may be spooled to disk. */
  readonly maxSpoolBytes: number;
  readonly inputBackpressure: Backpressure | undefined;
  readonly signal: AbortSignal;
}

/** A format that the caller names is read from the pipe. */
export const namedInput = (source: InputSource, named: readonly string[]): OpenInput => ({
  arguments: source === undefined ? named : [...named, ...pipe],
  bytes: source,
  container: undefined,
});

const pipe = ['-protocol_whitelist', 'pipe', '-i', 'pipe:0'] as const;

/** One demuxer is named and one protocol allowed: a playlist in disguise leads nowhere. */
export const detectedInput = async (
  source: Observable<Uint8Array> | Uint8Array,
  folder: string,
  options: InputOptions,
): Promise<OpenInput> => {
  const file = join(folder, 'input');
  if (source instanceof Uint8Array) {
    const demuxer = known(source);
    if (!demuxer.seeks)
      return {
        arguments: ['-f', demuxer.format, ...pipe],
        bytes: source,
        container: demuxer.container,
      };
    await writeFile(file, source, { mode: 0o600, signal: options.signal });
    return fromFile(file, demuxer);
  }
  return fromFile(file, known(await spool(source, file, options)));
};

/** Whether a file is needed: a folder is created for those inputs only. */
export const needsFile = (source: Observable<Uint8Array> | Uint8Array): boolean =>
  !(source instanceof Uint8Array) || demuxerFor(source.subarray(0, headLength))?.seeks === true;

const fromFile = (file: string, demuxer: Demuxer): OpenInput => ({
  arguments: ['-f', demuxer.format, '-protocol_whitelist', 'file', '-i', `file:${file}`],
  bytes: undefined,
  container: demuxer.container,
});

const known = (bytes: Uint8Array): Demuxer => {
  if (bytes.length === 0) throw fail('invalid_request', 'is empty');
  const demuxer = demuxerFor(bytes.subarray(0, headLength));
  if (demuxer === undefined)
    throw fail(
      'invalid_request',
      'is not in a format that can be read: its first bytes are not those of one',
    );
  return demuxer;
};

/** The first bytes of what is now in the file. */
const spool = (source: Observable<Uint8Array>, file: string, options: InputOptions): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const backpressure = options.inputBackpressure ?? new Backpressure();
    const target = createWriteStream(file, { mode: 0o600, signal: options.signal });
    const head: Uint8Array[] = [];
    let received = 0;
    let feeding: Subscription | undefined;
    target.on('drain', () => backpressure.resume());
    target.on('error', (error) => {
      feeding?.unsubscribe();
      reject(options.signal.aborted ? options.signal.reason : error);
    });
    target.on('finish', () => resolve(Buffer.concat(head)));
    feeding = source.subscribe({
      next: (chunk) => {
        if (received < headLength) head.push(chunk.slice(0, headLength - received));
        received += chunk.length;
        if (received > options.maxSpoolBytes)
          target.destroy(
            fail('payload_too_large', `is larger than the limit of ${options.maxSpoolBytes} bytes`),
          );
        else if (!target.write(chunk)) backpressure.pause();
      },
      error: (error: Error) => target.destroy(error),
      complete: () => target.end(),
    });
  });

/** One of ffmpeg's readers; it is named to ffmpeg so that no other is ever tried. */
interface Demuxer {
  /** Container, as `MediaFacts` names it. */
  readonly container: string;
  readonly format: string;
  /** Its index may stand at the end: it has to be read from a file. */
  readonly seeks: boolean;
}

const demuxers: Readonly<Record<string, Demuxer>> = {
  'audio/wav': { container: 'wav', format: 'wav', seeks: false },
  'audio/mpeg': { container: 'mp3', format: 'mp3', seeks: false },
  'audio/flac': { container: 'flac', format: 'flac', seeks: false },
  'audio/ogg': { container: 'ogg', format: 'ogg', seeks: false },
  'audio/aac': { container: 'aac', format: 'aac', seeks: false },
  'audio/mp4': { container: 'm4a', format: 'mov', seeks: true },
  'video/mp4': { container: 'mp4', format: 'mov', seeks: true },
  'video/quicktime': { container: 'mov', format: 'mov', seeks: true },
  'video/webm': { container: 'webm', format: 'matroska', seeks: false },
  'video/x-matroska': { container: 'mkv', format: 'matroska', seeks: false },
};

/** Undefined for anything that is no sound or moving picture: playlists, lists of files and text are among these. */
const demuxerFor = (head: Uint8Array): Demuxer | undefined => {
  const type = sniffMediaType(Buffer.from(head.buffer, head.byteOffset, head.byteLength));
  return type === undefined ? undefined : demuxers[type];
};
