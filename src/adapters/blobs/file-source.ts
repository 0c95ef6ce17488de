/** Streams a range of an open file with backpressure, and closes the file at the end. */
import type { FileHandle } from 'node:fs/promises';
import { Observable, type Subscriber } from 'rxjs';
import type { Backpressure, Pausable } from '../../ports/backpressure.ts';
import type { ByteRange } from '../../ports/blobs.ts';

const pieceBytes = 64 * 1024;

/** What is read and not taken is at most one piece. */
export const fileSource = (
  open: () => Promise<{ readonly file: FileHandle; readonly range: ByteRange }>,
  backpressure: Backpressure,
): Observable<Buffer> =>
  new Observable((subscriber) => {
    const source = new FileSource(backpressure, subscriber);
    void source.run(open);
    return () => source.stop();
  });

class FileSource implements Pausable {
  readonly #backpressure: Backpressure;
  readonly #subscriber: Subscriber<Buffer>;
  #paused = false;
  #goOn: (() => void) | undefined;

  constructor(backpressure: Backpressure, subscriber: Subscriber<Buffer>) {
    this.#backpressure = backpressure;
    this.#subscriber = subscriber;
    backpressure.attach(this);
  }

  async run(open: () => Promise<{ readonly file: FileHandle; readonly range: ByteRange }>): Promise<void> {
    let file: FileHandle | undefined;
    try {
      const opened = await open();
      file = opened.file;
      await this.#send(file, opened.range);
      this.#subscriber.complete();
    } catch (thrown) {
      this.#subscriber.error(thrown);
    } finally {
      await file?.close();
    }
  }

  stop(): void {
    this.#backpressure.detach(this);
    this.resume();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#goOn?.();
    this.#goOn = undefined;
  }

  async #send(file: FileHandle, { start, end }: ByteRange): Promise<void> {
    for (let at = start; at < end; ) {
      if (this.#paused) await this.#room();
      if (this.#subscriber.closed) return;
      const wanted = Math.min(pieceBytes, end - at);
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, at);
      if (bytesRead === 0) throw new Error('The file is shorter than it was');
      at += bytesRead;
      if (this.#paused) await this.#room();
      this.#subscriber.next(buffer.subarray(0, bytesRead));
    }
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }
}
