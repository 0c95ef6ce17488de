/** Creates, measures and damages audio samples for tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { parseBuffer } from 'music-metadata';
import { lastValueFrom, toArray } from 'rxjs';
import { createCodec } from '../../src/codec/codec.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Conversion } from '../../src/ports/codec.ts';

export const codec = createCodec();

const limits = { maxBytes: 256 * 1024 * 1024, timeoutMs: 60_000 };

const encoders: Readonly<Record<string, readonly string[]>> = {
  wav: ['-f', 'wav'],
  mp3: ['-c:a', 'libmp3lame', '-f', 'mp3'],
  flac: ['-f', 'flac'],
  m4a: ['-c:a', 'aac', '-f', 'ipod'],
  ogg: ['-c:a', 'libopus', '-f', 'ogg'],
  webm: ['-c:a', 'libopus', '-f', 'webm'],
  aac: ['-c:a', 'aac', '-f', 'adts'],
};
export const containers = Object.keys(encoders);

const run = async (
  source: Uint8Array | undefined,
  conversion: Pick<Conversion, 'arguments' | 'inputArguments'>,
) =>
  Buffer.concat(
    await lastValueFrom(
      codec
        .convert(source, { ...limits, seekableOutput: true, ...conversion }, new Backpressure())
        .pipe(toArray()),
    ),
  );

/** A tone of so many seconds. */
export const tone = (seconds: number, container = 'wav', frequency = 440): Promise<Buffer> =>
  run(undefined, {
    inputArguments: [
      '-f',
      'lavfi',
      '-i',
      `sine=frequency=${frequency}:duration=${seconds}:sample_rate=24000`,
    ],
    arguments: encoders[container] ?? [],
  });

/** Pictures and a tone. */
export const film = (seconds: number, sound = true): Promise<Buffer> =>
  run(undefined, {
    inputArguments: [
      ...['-f', 'lavfi', '-i', `testsrc=duration=${seconds}:size=320x240:rate=24`],
      ...(sound ? ['-f', 'lavfi', '-i', `sine=duration=${seconds}`] : []),
    ],
    arguments: ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-f', 'mp4'],
  });

export const converted = (bytes: Uint8Array, container: string, ...more: string[]): Promise<Buffer> =>
  run(bytes, { arguments: [...more, '-map_metadata', '-1', ...(encoders[container] ?? [])] });

export const samplesOf = async (bytes: Uint8Array): Promise<Int16Array> => {
  const samples = await run(bytes, { arguments: ['-ac', '1', '-ar', '24000', '-f', 's16le'] });
  return new Int16Array(samples.buffer, samples.byteOffset, samples.length >> 1);
};

/** A header as written by hand before samples; any field may be a lie. */
export const wave = (samples: Uint8Array, header: Partial<WaveHeader> = {}): Buffer => {
  const { rate, channels, bits, size } = {
    ...{ rate: 24_000, channels: 1, bits: 16, size: samples.length },
    ...header,
  };
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE((size + 36) >>> 0, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE((rate * channels * (bits >> 3)) >>> 0, 28);
  head.writeUInt16LE((channels * (bits >> 3)) & 0xffff, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(size >>> 0, 40);
  return Buffer.concat([head, samples]);
};

interface WaveHeader {
  readonly rate: number;
  readonly channels: number;
  readonly bits: number;
  readonly size: number;
}

/** From 0 for silence to 1. */
export const loudness = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length)) / 32_768;

/** How often a tone swings in a second, in its middle: formats put silence before and after it. */
export const pitch = (all: Int16Array): number => {
  const samples = all.subarray(all.length >> 2, (all.length * 3) >> 2);
  let crossings = 0;
  for (let at = 1; at < samples.length; at++)
    if ((samples[at - 1] ?? 0) < 0 && (samples[at] ?? 0) >= 0) crossings++;
  return crossings / (samples.length / 24_000);
};

/** What a reader that is not ours says of a file. */
export const described = async (bytes: Buffer, mediaType: string) => {
  const { format } = await parseBuffer(bytes, { mimeType: mediaType }, { duration: true });
  return {
    container: format.container,
    codec: format.codec,
    seconds: format.duration ?? 0,
    rate: format.sampleRate,
    channels: format.numberOfChannels,
  };
};

interface RunningProcess {
  readonly id: number;
  readonly parent: number;
  readonly name: string;
}

/** Running descendants of a process, from /proc (Linux only). */
const descendants = (of: number): readonly RunningProcess[] => {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
        const end = stat.lastIndexOf(')');
        const [state, parent] = stat.slice(end + 2).split(' ');
        return state === 'Z'
          ? []
          : [{ id: Number(name), parent: Number(parent), name: stat.slice(stat.indexOf('(') + 1, end) }];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
  const below = (parent: number): typeof all =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.id)]);
  return below(of);
};

/** Programs before it in the chain have other names. */
const conversions = (of = process.pid) => descendants(of).filter(({ name }) => name === 'ffmpeg');

/** Processes of ffmpeg among them, … */
export const ffmpegs = (): readonly number[] => conversions().map(({ id }) => id);

/** … and those that started them; a sandbox may be in between. */
export const spawners = (): readonly number[] =>
  descendants(process.pid)
    .filter(({ id }) => isSpawner(id) && conversions(id).length > 0)
    .map(({ id }) => id);

const isSpawner = (id: number): boolean => {
  try {
    return /spawner-process\.[jt]s/.test(readFileSync(`/proc/${id}/cmdline`, 'latin1'));
  } catch {
    return false;
  }
};
