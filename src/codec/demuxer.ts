/** The first bytes of a file in; which of ffmpeg's readers is for it out, named so that none other is ever tried. */
import { sniffMediaType } from '../media/media-type.ts';

export interface Demuxer {
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
export const demuxerFor = (head: Uint8Array): Demuxer | undefined => {
  const type = sniffMediaType(Buffer.from(head.buffer, head.byteOffset, head.byteLength));
  return type === undefined ? undefined : demuxers[type];
};
