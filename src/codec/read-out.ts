/** A file that is done in; its bytes to a receiver, as fast as backpressure allows. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Backpressure } from '../ports/backpressure.ts';
import { ProcessFailure } from './process.ts';

export interface ReadOutOptions {
  readonly maxBytes: number;
  readonly backpressure: Backpressure;
  readonly signal: AbortSignal;
}

export const readOut = async (
  file: string,
  { maxBytes, backpressure, signal }: ReadOutOptions,
  receive: (bytes: Buffer) => void,
): Promise<void> => {
  const { size } = await stat(file);
  if (size > maxBytes) throw new ProcessFailure('bytes', `${size} bytes were written`);
  const source = createReadStream(file, { signal });
  const listener = { pause: () => source.pause(), resume: () => source.resume() };
  try {
    await new Promise<void>((resolve, reject) => {
      source.on('data', (bytes) => receive(bytes as Buffer));
      source.on('error', (error) => reject(signal.aborted ? signal.reason : error));
      source.on('end', resolve);
      backpressure.attach(listener);
    });
  } finally {
    backpressure.detach(listener);
  }
};
