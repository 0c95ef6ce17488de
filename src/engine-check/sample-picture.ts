/** A picture to send along: of the usual size, and nothing that a safety filter would mind. */
import { lastValueFrom, toArray } from 'rxjs';
import { Backpressure } from '../ports/backpressure.ts';
import type { Codec } from '../ports/codec.ts';

const side = 512;

/** A PNG. */
export const samplePicture = async (
  codec: Codec,
): Promise<{ bytes: Buffer; width: number; height: number }> => {
  const pieces = codec.convert(
    undefined,
    {
      inputArguments: ['-f', 'lavfi', '-i', `testsrc=s=${side}x${side}:r=1:d=1`],
      arguments: ['-frames:v', '1', '-c:v', 'png', '-f', 'image2pipe'],
      maxBytes: 8 * 1024 * 1024,
      timeoutMs: 30_000,
    },
    new Backpressure(),
  );
  const bytes = Buffer.concat(await lastValueFrom(pieces.pipe(toArray())));
  return { bytes, width: side, height: side };
};
