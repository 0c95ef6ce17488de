/** Streams a range of an open file with backpressure, and closes the file at the end. */
import type { FileHandle } from 'node:fs/promises';
import { Observable } from 'rxjs';
import type { Backpressure, Pausable } from '../../ports/backpressure.ts';
import type { ByteRange } from '../../ports/blobs.ts';

const pieceBytes = 64 * 1024;

interface Opened {
  readonly file: FileHandle;
  readonly range: ByteRange;
}

/** What is read and not taken is at most one piece. */
export const fileSource = (open: () => Promise<Opened>, backpressure: Backpressure): Observable<Buffer> =>
  new Observable((subscriber) => {
    let paused = false;
    let goOn: (() => void) | undefined;
    const listener: Pausable = {
      pause: () => {
        paused = true;
      },
      resume: () => {
        paused = false;
        goOn?.();
        goOn = undefined;
      },
    };
    const room = (): Promise<void> =>
      new Promise((resolve) => {
        goOn = resolve;
      });
    const send = async ({ file, range: { start, end } }: Opened): Promise<void> => {
      for (let at = start; at < end; ) {
        if (paused) await room();
        if (subscriber.closed) return;
        const wanted = Math.min(pieceBytes, end - at);
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, at);
        if (bytesRead === 0) throw new Error('The file is shorter than it was');
        at += bytesRead;
        if (paused) await room();
        subscriber.next(buffer.subarray(0, bytesRead));
      }
    };
    const run = async (): Promise<void> => {
      let opened: Opened | undefined;
      try {
        opened = await open();
        await send(opened);
        subscriber.complete();
      } catch (thrown) {
        subscriber.error(thrown);
      } finally {
        await opened?.file.close();
      }
    };
    backpressure.attach(listener);
    void run();
    return () => {
      backpressure.detach(listener);
      listener.resume();
    };
  });
