/** Holds back the first bytes of a stream until they show how all of it is to be read. */
import { Observable, type Subscriber, Subscription } from 'rxjs';
import type { Backpressure } from '../../ports/backpressure.ts';

/** What reads the stream, from its first byte on; undefined while there are too few to choose. */
export type ChooseReader = (
  head: Buffer,
  isAll: boolean,
) => ((bytes: Observable<Buffer>) => Observable<Buffer>) | undefined;

/** `backpressure` is that of `source`. What `choose` throws is emitted as an error. */
export const routeByHead = (
  source: Observable<Buffer>,
  backpressure: Backpressure,
  choose: ChooseReader,
): Observable<Buffer> =>
  new Observable((subscriber) => {
    const running = new Subscription();
    let head: Buffer = Buffer.alloc(0);
    let rest: HeldStream | undefined;
    const decide = (isAll: boolean): void => {
      try {
        const read = choose(head, isAll);
        if (read === undefined) return;
        rest = new HeldStream(head, backpressure);
        head = Buffer.alloc(0);
        running.add(read(rest.bytes).subscribe(subscriber));
      } catch (error) {
        subscriber.error(error);
      }
    };
    running.add(
      source.subscribe({
        next: (bytes) => {
          if (rest !== undefined) return rest.next(bytes);
          head = head.length === 0 ? bytes : Buffer.concat([head, bytes]);
          decide(false);
        },
        error: (error: unknown) => (rest === undefined ? subscriber.error(error) : rest.error(error)),
        complete: () => {
          if (rest === undefined) decide(true);
          rest?.complete();
        },
      }),
    );
    return running;
  });

/** Keeps what comes, and pauses its source, until its one subscriber is there: processes take a moment to start. */
class HeldStream {
  readonly bytes: Observable<Buffer>;
  #kept: Buffer[];
  #reader: Subscriber<Buffer> | undefined;
  #end: (() => void) | undefined;
  readonly #backpressure: Backpressure;

  constructor(head: Buffer, backpressure: Backpressure) {
    this.#kept = [head];
    this.#backpressure = backpressure;
    this.bytes = new Observable((reader) => {
      this.#reader = reader;
      const kept = this.#kept;
      this.#kept = [];
      if (this.#end === undefined) backpressure.resume();
      for (const bytes of kept) reader.next(bytes);
      this.#end?.();
    });
  }

  next(bytes: Buffer): void {
    if (this.#reader === undefined) {
      this.#kept.push(bytes);
      this.#backpressure.pause();
    } else this.#reader.next(bytes);
  }

  complete(): void {
    this.#finish(() => this.#reader?.complete());
  }

  error(error: unknown): void {
    this.#finish(() => this.#reader?.error(error));
  }

  #finish(end: () => void): void {
    this.#end = end;
    if (this.#reader !== undefined) end();
  }
}
