/** Decides whether an engine's file is what was promised, and how to convert it if not. */
import type { MediaFacts } from '../ports/codec.ts';
import type { MusicCall, RenderCall, VideoCall } from '../ports/engines/render.ts';

/** Undefined arguments: the file is fine as it is. */
export type Fitting =
  | { readonly arguments: readonly string[] | undefined }
  /** Goes on from `The engine's output`. */
  | { readonly fault: string };

const songTypes: Readonly<Record<MusicCall['format'], string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  opus: 'audio/ogg',
};

export const promisedType = (call: RenderCall): string =>
  call.type === 'video' ? 'video/mp4' : songTypes[call.format];

export const fitOutput = (call: RenderCall, facts: MediaFacts): Fitting =>
  call.type === 'video' ? fitClip(call, facts) : fitSong(call, facts);

/** Pixels of all frames: fifteen seconds of 2K take about half a minute to encode. */
const mostEncodedPixels = 4e9;
const playedPixels = new Set(['yuv420p', 'yuvj420p']);
const encodeVideo = [
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-pix_fmt', 'yuv420p'],
  // The encoder needs even sides.
  ...['-vf', 'pad=ceil(iw/2)*2:ceil(ih/2)*2'],
];
const encodeAudio = ['-c:a', 'aac', '-ac', '2', '-b:a', '192k'];

/** An MP4 of H.264, which every player has, with stereo AAC unless no sound was wanted. */
const fitClip = ({ audio: wantsAudio }: VideoCall, facts: MediaFacts): Fitting => {
  const { width = 0, height = 0, frames = 0 } = facts;
  if (!facts.hasVideo || frames === 0) return { fault: 'has no moving picture' };
  const isVideoFine = facts.videoCodec === 'h264' && playedPixels.has(facts.pixelFormat ?? '');
  const isAudioFine = facts.audioCodec === 'aac' && facts.channels === 2;
  const isFine = isVideoFine && (!facts.hasAudio || (wantsAudio && isAudioFine));
  if (isFine && facts.container === 'mp4') return { arguments: undefined };
  if (!isVideoFine && width * height * frames > mostEncodedPixels)
    return { fault: `is ${facts.videoCodec} and too large to be converted` };
  const audio =
    facts.hasAudio && wantsAudio ? ['-map', '0:a:0', ...copyOr(isAudioFine, 'a', encodeAudio)] : [];
  return {
    arguments: [
      ...['-map', '0:V:0', ...copyOr(isVideoFine, 'v', encodeVideo), ...audio],
      // Sound waits for the first encoded picture.
      ...['-max_muxing_queue_size', '8192', '-movflags', '+faststart', '-f', 'mp4'],
    ],
  };
};

const copyOr = (isFine: boolean, stream: 'a' | 'v', encode: readonly string[]): readonly string[] =>
  isFine ? [`-c:${stream}`, 'copy'] : encode;

interface SongFormat {
  readonly container: string;
  readonly codecs: readonly string[];
  readonly encode: readonly string[];
}

const plainSamples = ['pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'pcm_u8'];

const songFormats: Readonly<Record<MusicCall['format'], SongFormat>> = {
  mp3: { container: 'mp3', codecs: ['mp3'], encode: ['-c:a', 'libmp3lame', '-b:a', '192k', '-f', 'mp3'] },
  wav: { container: 'wav', codecs: plainSamples, encode: ['-c:a', 'pcm_s16le', '-f', 'wav'] },
  flac: { container: 'flac', codecs: ['flac'], encode: ['-c:a', 'flac', '-f', 'flac'] },
  opus: {
    container: 'ogg',
    codecs: ['opus'],
    encode: ['-c:a', 'libopus', '-b:a', '160k', '-ar', '48000', '-f', 'ogg'],
  },
};

/** Seconds: a song of four minutes takes a few to encode. */
const longestEncodedSong = 3600;

const fitSong = ({ format }: MusicCall, facts: MediaFacts): Fitting => {
  if (!facts.hasAudio) return { fault: 'has no sound' };
  const { container, codecs, encode } = songFormats[format];
  const isFine = facts.container === container && codecs.includes(facts.audioCodec ?? '');
  // A stored song has its exact length in its header.
  if (isFine && facts.openEnded !== true) return { arguments: undefined };
  if (facts.seconds > longestEncodedSong)
    return { fault: `is ${facts.audioCodec} and too long to be converted` };
  return { arguments: ['-map', '0:a:0', ...encode] };
};
