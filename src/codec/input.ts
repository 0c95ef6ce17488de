/** Prepares the input of ffmpeg: a pipe, or a private file for formats that must be seekable. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Observable } from 'rxjs';
import { fail } from '../errors.ts';
import { headLength, sniffMediaType } from '../media/media-type.ts';
import { Backpressure } from '../ports/backpressure.ts';
import { allowed } from './allowed.ts';
import { SpooledFile, spoolTo } from './spooled-file.ts';

export interface OpenInput {
  readonly arguments: readonly string[];
  /** The file that they name. */
  readonly file: string | undefined;
  /** What goes through the pipe. */
  readonly bytes: Observable<Uint8Array> | Uint8Array | undefined;
  readonly container: string | undefined;
}

type MediaSource = Observable<Uint8Array> | Uint8Array | SpooledFile;
export type InputSource = MediaSource | undefined;

interface InputOptions {
  /** Bytes of a stream that may be spooled to disk. */
  readonly maxSpoolBytes: number;
  readonly inputBackpressure: Backpressure | undefined;
  readonly signal: AbortSignal;
}

/** A format that the caller names is read from the pipe. */
export const namedInput = (
  source: Observable<Uint8Array> | Uint8Array | undefined,
  named: readonly string[],
): OpenInput => ({
  arguments: source === undefined ? named : [...named, ...pipe],
  file: undefined,
  bytes: source,
  container: undefined,
});

const pipe = [...allowed('pipe'), '-i', 'pipe:0'];

/** One demuxer is named and one protocol allowed: a playlist in disguise leads nowhere. */
export const detectedInput = async (
  source: MediaSource,
  folder: string,
  options: InputOptions,
): Promise<OpenInput> => {
  if (source instanceof SpooledFile) return fromFile(source.path, known(source.head));
  const path = join(folder, 'input');
  if (source instanceof Uint8Array) {
    const demuxer = known(source);
    if (!demuxer.seeks)
      return {
        arguments: ['-f', demuxer.format, ...pipe],
        file: undefined,
        bytes: source,
        container: demuxer.container,
      };
    await writeFile(path, source, { mode: 0o600, signal: options.signal });
    return fromFile(path, demuxer);
  }
  const { maxSpoolBytes: maxBytes, inputBackpressure: backpressure = new Backpressure(), signal } = options;
  const spooled = await spoolTo(source, path, { maxBytes, backpressure, signal });
  return fromFile(path, known(spooled.head));
};

/** Whether a file has to be written: a folder is created for those inputs only. */
export const needsFile = (source: MediaSource): boolean => {
  if (source instanceof SpooledFile) return false;
  return !(source instanceof Uint8Array) || demuxerFor(source.subarray(0, headLength))?.seeks === true;
};

const fromFile = (path: string, demuxer: Demuxer): OpenInput => ({
  arguments: ['-f', demuxer.format, ...allowed('file'), '-i', `file:${path}`],
  file: path,
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
