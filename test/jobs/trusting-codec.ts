/** A codec that takes whatever a scripted renderer made for a whole clip, or for a song of a music job. */
import { lastValueFrom, of, reduce } from 'rxjs';
import type { OutputCodec } from '../../src/jobs/keep-output.ts';
import type { MediaFacts, MediaFile } from '../../src/ports/codec.ts';
import type { Shared } from '../../src/ports/shared.ts';

class MemoryFile implements MediaFile {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get size(): number {
    return this.bytes.length;
  }

  read() {
    return of(this.bytes);
  }

  async remove(): Promise<void> {}
}

const song: MediaFacts = {
  container: 'mp3',
  hasVideo: false,
  hasAudio: true,
  audioCodec: 'mp3',
  channels: 2,
  seconds: 30,
};

const clip: MediaFacts = {
  ...song,
  container: 'mp4',
  hasVideo: true,
  videoCodec: 'h264',
  pixelFormat: 'yuv420p',
  audioCodec: 'aac',
  width: 1344,
  height: 768,
  frames: 144,
  fps: 24,
  seconds: 6,
};

export const trustingCodec: OutputCodec & Shared<OutputCodec> = {
  for: () => trustingCodec,
  stats: () => ({}),
  spool: async (source) =>
    new MemoryFile(
      await lastValueFrom(source.pipe(reduce((all, bytes) => Buffer.concat([all, bytes]), Buffer.alloc(0)))),
    ),
  verify: async (file) => ((file as MemoryFile).bytes.includes('music_') ? song : clip),
  convert: () => {
    throw new Error('nothing needs to be converted');
  },
};
