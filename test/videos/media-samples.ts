/** Small images, clips and sounds for tests, and their data URIs. */
import { lastValueFrom, toArray } from 'rxjs';
import sharp from 'sharp';
import { createCodec } from '../../src/codec/codec.ts';
import { wavHeader } from '../../src/music/wav.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';

export const picture = (format: 'png' | 'jpeg' | 'webp' | 'gif', colour = '#d04020'): Promise<Buffer> =>
  sharp({ create: { width: 32, height: 32, channels: 3, background: colour } })
    .toFormat(format)
    .toBuffer();

/** Silence of one byte a sample would do; this is 8 kHz, 16-bit, mono. */
export const wav = (seconds: number): Buffer => {
  const dataBytes = seconds * 16_000;
  return Buffer.concat([wavHeader({ sampleRate: 8000, channels: 1, dataBytes }), Buffer.alloc(dataBytes)]);
};

export const clip = async (seconds: number, format: 'mp4' | 'mov' | 'matroska' = 'mp4'): Promise<Buffer> => {
  const codec = createCodec();
  const made = codec.convert(
    undefined,
    {
      inputArguments: ['-f', 'lavfi', '-i', `color=c=red:s=32x32:r=8:d=${seconds}`],
      arguments: ['-c:v', 'libx264', '-preset', 'ultrafast', '-f', format],
      seekableOutput: true,
      maxBytes: 1024 * 1024,
      timeoutMs: 60_000,
    },
    new Backpressure(),
  );
  const pieces = await lastValueFrom(made.pipe(toArray()));
  await codec.close();
  return Buffer.concat(pieces);
};

export const mp3 = async (seconds: number): Promise<Buffer> => {
  const codec = createCodec();
  const made = codec.convert(
    wav(seconds),
    { arguments: ['-c:a', 'libmp3lame', '-f', 'mp3'], maxBytes: 1024 * 1024, timeoutMs: 60_000 },
    new Backpressure(),
  );
  const pieces = await lastValueFrom(made.pipe(toArray()));
  await codec.close();
  return Buffer.concat(pieces);
};

export const dataUri = (bytes: Buffer, mediaType = 'application/octet-stream'): string =>
  `data:${mediaType};base64,${bytes.toString('base64')}`;
