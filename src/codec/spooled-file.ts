/** Writes a media stream to a private file, which can then be probed, converted and read. */
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Observable, type Subscription } from 'rxjs';
import { fail } from '../errors.ts';
import { headLength } from '../media/media-type.ts';
import type { Backpressure } from '../ports/backpressure.ts';
import type { MediaFile, Spooling } from '../ports/codec.ts';

/** The only file in its folder. */
export class SpooledFile implements MediaFile {
  readonly path: string;
  readonly size: number;
  /** Its first bytes. */
  readonly head: Buffer;

  constructor(path: string, size: number, head: Buffer) {
    this.path = path;
    this.size = size;
    this.head = head;
  }

  read(backpressure: Backpressure): Observable<Buffer> {
    return new Observable((subscriber) => {
      const source = createReadStream(this.path);
      const listener = { pause: () => source.pause(), resume: () => source.resume() };
      source.on('data', (bytes) => subscriber.next(bytes as Buffer));
      source.on('error', (error) => subscriber.error(error));
      source.on('end', () => subscriber.complete());
      backpressure.attach(listener);
      return () => {
        backpressure.detach(listener);
        source.destroy();
      };
    });
  }

  async remove(): Promise<void> {
    await rm(dirname(this.path), { recursive: true, force: true });
  }
}

export const spoolTo = (
  source: Observable<Uint8Array>,
  path: string,
  { maxBytes, backpressure, signal }: Spooling,
): Promise<SpooledFile> =>
  new Promise((resolve, reject) => {
    const target = createWriteStream(path, { mode: 0o600, signal });
    const head: Uint8Array[] = [];
    let size = 0;
    let feeding: Subscription | undefined;
    target.on('drain', () => backpressure.resume());
    target.on('error', (error) => {
      feeding?.unsubscribe();
      reject(signal.aborted ? signal.reason : error);
    });
    target.on('finish', () => resolve(new SpooledFile(path, size, Buffer.concat(head))));
    feeding = source.subscribe({
      next: (chunk) => {
        if (size < headLength) head.push(chunk.slice(0, headLength - size));
        size += chunk.length;
        if (size > maxBytes)
          target.destroy(fail('payload_too_large', `is larger than the limit of ${maxBytes} bytes`));
        else if (!target.write(chunk)) backpressure.pause();
      },
      error: (error: Error) => target.destroy(error),
      complete: () => target.end(),
    });
  });
