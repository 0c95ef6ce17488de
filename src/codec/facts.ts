/** Reads the facts of a media file from what ffmpeg printed while decoding it. */
import type { MediaFacts } from '../ports/codec.ts';

/** Packets of sound that may wait for the first picture; the usual 128 are less than three seconds. */
const buffering = ['-max_muxing_queue_size', '8192'];

/** Options that read all of a file and keep nothing: sound is decoded and its samples counted, pictures are counted and their key frames decoded. */
export const countingArguments = (maxSeconds: number): readonly string[] => [
  ...['-map', '0:V:0?', '-map', '0:V:0?', '-map', '0:a:0?', '-c:v:0', 'copy', '-c:v:1', 'wrapped_avframe'],
  // Time is what the samples say, not what stands written beside them; a line for many of them.
  ...['-af', 'asetpts=N/SR/TB,asetnsamples=n=16384:p=0', '-t', String(maxSeconds), ...buffering],
  ...['-f', 'framecrc'],
];

/** Reads the lines of frames that ffmpeg prints: `stream, dts, pts, duration, …`, with time bases before them. */
export class FrameLines {
  readonly #bases = new Map<number, number>();
  readonly #frames = new Map<number, number>();
  #rest = '';
  /** Where the last frame ends. */
  seconds = 0;

  add(bytes: Buffer): void {
    const lines = (this.#rest + bytes.toString('latin1')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#read(line);
  }

  /** Of the pictures as they are in the file. */
  get frames(): number {
    return this.#frames.get(0) ?? 0;
  }

  #read(line: string): void {
    const base = /^#tb (\d+): (\d+)\/(\d+)$/.exec(line);
    if (base !== null) this.#bases.set(Number(base[1]), Number(base[2]) / Number(base[3]));
    if (line.startsWith('#')) return;
    const [stream = 0, , start = 0, length = 0] = line.split(',', 4).map(Number);
    this.#frames.set(stream, (this.#frames.get(stream) ?? 0) + 1);
    const end = (start + length) * (this.#bases.get(stream) ?? 0);
    if (end > this.seconds) this.seconds = end;
  }
}

/** Header and count may differ by the length of a last frame. */
const tolerance = 0.25;

interface CountedFacts {
  readonly facts: MediaFacts;
  /** Seconds of the longest stream as they were counted, and as the header has them. */
  readonly counted: number;
  readonly declared: number | undefined;
}

/** Undefined when nothing was in it. */
export const readFacts = (container: string, log: string, lines: FrameLines): CountedFacts | undefined => {
  const counted = lines.seconds;
  const input = log.slice(log.indexOf('\nInput #0') + 1, endOfInput(log));
  const declared = declaredSeconds(input);
  // Names of tags, which are anybody's text, are further to the right.
  const streams = input.match(/^ {2}Stream #0:.*$/gm) ?? [];
  const audio = streams.find((line) => line.includes(': Audio: '));
  const video = streams.find((line) => line.includes(': Video: ') && !line.includes('(attached pic)'));
  const rate = /, (\d+) Hz, ([^,]+)/.exec(audio ?? '');
  const size = /, (\d+)x(\d+)[ ,]/.exec(`${video ?? ''},`);
  const seconds = video === undefined ? counted : agreed(counted, declared);
  if (seconds <= 0 || (audio === undefined && video === undefined)) return undefined;
  const facts = {
    container,
    hasVideo: video !== undefined,
    hasAudio: audio !== undefined,
    seconds,
    ...(rate === null ? {} : { sampleRate: Number(rate[1]), channels: channelsOf(rate[2] ?? '') }),
    ...(size === null ? {} : { width: Number(size[1]), height: Number(size[2]) }),
    ...(audio === undefined ? {} : { audioCodec: codecOf(audio) }),
    ...(video === undefined ? {} : pictureFacts(video, lines.frames, seconds)),
  };
  return { facts, counted, declared };
};

const codecOf = (line: string): string => /: (?:Audio|Video): (\w+)/.exec(line)?.[1] ?? '';

/** The rate is an average, and missing where the header has no lengths of pictures. */
const pictureFacts = (line: string, frames: number, seconds: number) => {
  const [, rate, thousands] = /, ([\d.]+)(k?) fps/.exec(line) ?? [];
  const fps = rate === undefined ? frames / seconds : Number(rate) * (thousands === 'k' ? 1000 : 1);
  return {
    videoCodec: codecOf(line),
    pixelFormat: /, (\w+)(?:\([^)]*\))?, \d+x\d+/.exec(line)?.[1] ?? '',
    frames,
    fps: Math.round(fps * 100) / 100,
  };
};

const endOfInput = (log: string): number => {
  const end = log.indexOf('\nStream mapping:');
  return end < 0 ? log.length : end;
};

/** A count of pictures ends where the last one begins: the header knows how long that one stays. */
const agreed = (counted: number, declared: number | undefined): number =>
  declared !== undefined && Math.abs(declared - counted) <= tolerance ? declared : counted;

const declaredSeconds = (input: string): number | undefined => {
  const [, hours, minutes, seconds] = /Duration: (\d+):(\d+):([\d.]+)/.exec(input) ?? [];
  return seconds === undefined ? undefined : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
};

const layouts: Readonly<Record<string, number>> = { mono: 1, stereo: 2, '5.1': 6, '7.1': 8 };

const channelsOf = (layout: string): number => {
  const known = layouts[layout.replace(/\(.*/, '').trim()];
  if (known !== undefined) return known;
  const counted = /^(\d+) channels/.exec(layout)?.[1];
  if (counted !== undefined) return Number(counted);
  const [, main, low] = /^(\d+)\.(\d)/.exec(layout) ?? [];
  return Math.max(1, Number(main ?? 1) + Number(low ?? 0));
};
