/** Pieces of a request body as the socket gives them in; the body whole or as a stream that can be paused out. */
import { Observable, type Subscriber } from 'rxjs';
import { fail } from '../errors.ts';
import type { Demand } from '../ports/demand.ts';
import type { IncomingBody } from '../ports/exchange.ts';
import type { Channel } from './channel.ts';
import type { EdgeLimits } from './limits.ts';

/** Bytes of an unwanted body that are cheaper to let pass than to end a connection for. */
const smallRest = 64 * 1024;
/** Bytes kept for a reader that is behind. Up to here the socket is read on: one that is not hears of no hang-up. */
const maxHeld = 64 * 1024;

/** What one reader does with the pieces. */
interface Sink {
  readonly paused: boolean;
  piece(chunk: Uint8Array, lent: boolean): void;
  end(): void;
  error(error: unknown): void;
}

export class RequestBody implements IncomingBody {
  readonly length: number | undefined;
  readonly #limit: number;
  readonly #channel: Channel;
  readonly #held: Uint8Array[] = [];
  #heldBytes = 0;
  #received = 0;
  #arrived = false;
  #stopped = false;
  #opened = false;
  #sink: Sink | undefined;
  #waitingSince = 0;
  #quietSince = 0;
  #receivedBefore = 0;
  #seen = 0;

  constructor(channel: Channel, length: number | undefined, limit: number) {
    this.#channel = channel;
    this.length = length;
    this.#limit = limit;
  }

  /** All of it has come from the network. */
  get arrived(): boolean {
    return this.#arrived;
  }

  /** Nobody will read on. True: what is left is so little that it is let pass; false: the connection should end. */
  dismiss(): boolean {
    if (this.#arrived) return true;
    this.#opened = true;
    this.#sink = undefined;
    this.#release();
    if (this.#stopped) this.#channel.resumeBody();
    this.#stopped = false;
    return this.length !== undefined && this.length - this.#received <= smallRest;
  }

  /** What a client that is too slow is told; undefined while all is well. Asked at every tick. */
  lateness(now: number, limits: EdgeLimits): string | undefined {
    if (this.#arrived || this.#stopped) {
      this.#waitingSince = 0;
      return undefined;
    }
    if (this.#waitingSince === 0) {
      this.#waitingSince = this.#quietSince = now;
      this.#receivedBefore = this.#seen = this.#received;
    }
    if (this.#seen !== this.#received) this.#quietSince = now;
    this.#seen = this.#received;
    if (now - this.#quietSince >= limits.bodyIdleMs)
      return `No byte of the request body arrived for ${limits.bodyIdleMs / 1000} s`;
    const waited = now - this.#waitingSince;
    const slowest = (limits.bodyMinBytesPerSecond * waited) / 1000;
    if (waited >= limits.bodyIdleMs && this.#received - this.#receivedBefore < slowest)
      return `The request body arrived more slowly than ${limits.bodyMinBytesPerSecond} bytes per second`;
    this.#channel.excuse();
    return undefined;
  }

  whole(): Observable<Buffer> {
    return new Observable<Buffer>((subscriber) =>
      this.#open(
        subscriber,
        this.length === undefined ? new Gather(subscriber) : new Fill(subscriber, this.length),
      ),
    );
  }

  chunks(demand: Demand): Observable<Buffer> {
    return new Observable<Buffer>((subscriber) => {
      const sink = new Pass(subscriber, demand);
      const listener = { pause: () => {}, resume: () => this.#flush() };
      demand.attach(listener);
      subscriber.add(() => demand.detach(listener));
      this.#open(subscriber, sink);
    });
  }

  push(chunk: Uint8Array, last: boolean): void {
    this.#received += chunk.byteLength;
    if (last) this.#arrived = true;
    const sink = this.#sink;
    if (sink !== undefined && this.#received > this.#limit) {
      this.#stop();
      this.#sink = undefined;
      sink.error(this.#tooLarge());
      return;
    }
    if (sink !== undefined && !sink.paused && this.#held.length === 0) {
      if (chunk.byteLength > 0) sink.piece(chunk, this.#channel.lendsBody);
      if (last) this.#end();
      return;
    }
    // Nobody reads yet, or the reader is behind: what is in hand is kept, the rest stays in the network.
    if (this.#opened && sink === undefined) return;
    if (chunk.byteLength > 0) this.#held.push(this.#channel.lendsBody ? Buffer.from(chunk) : chunk);
    this.#heldBytes += chunk.byteLength;
    if (!last && this.#heldBytes > maxHeld) this.#stop();
  }

  #open(subscriber: Subscriber<Buffer>, sink: Sink): void {
    if (this.#opened) {
      subscriber.error(new Error('A request body can be read only once'));
      return;
    }
    this.#opened = true;
    if ((this.length ?? this.#received) > this.#limit) {
      this.#stop();
      subscriber.error(this.#tooLarge());
      return;
    }
    this.#sink = sink;
    subscriber.add(() => {
      if (this.#sink === sink) this.#stop();
      this.#sink = undefined;
      this.#release();
    });
    this.#channel.askForBody();
    this.#flush();
  }

  #flush(): void {
    const sink = this.#sink;
    while (sink !== undefined && this.#sink === sink && !sink.paused) {
      const chunk = this.#held.shift();
      if (chunk !== undefined) {
        this.#heldBytes -= chunk.byteLength;
        sink.piece(chunk, false);
        continue;
      }
      if (this.#arrived) this.#end();
      else if (this.#stopped) {
        this.#stopped = false;
        this.#channel.resumeBody();
      }
      return;
    }
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end();
  }

  #release(): void {
    this.#held.length = 0;
    this.#heldBytes = 0;
  }

  #stop(): void {
    if (this.#stopped || this.#arrived) return;
    this.#stopped = true;
    this.#channel.pauseBody();
  }

  #tooLarge() {
    return fail('payload_too_large', `Request body is larger than the limit of ${this.#limit} bytes`);
  }
}

/** The body of a request that has none. */
export const emptyBody: IncomingBody = {
  length: 0,
  whole: () =>
    new Observable((subscriber) => {
      subscriber.next(Buffer.alloc(0));
      subscriber.complete();
    }),
  chunks: () => new Observable((subscriber) => subscriber.complete()),
};

/** A body of known length: each piece is copied once, to its place. */
class Fill implements Sink {
  readonly paused = false;
  readonly #subscriber: Subscriber<Buffer>;
  readonly #length: number;
  #target: Buffer | undefined;
  #at = 0;

  constructor(subscriber: Subscriber<Buffer>, length: number) {
    this.#subscriber = subscriber;
    this.#length = length;
  }

  piece(chunk: Uint8Array, lent: boolean): void {
    if (!lent && this.#target === undefined && chunk.byteLength === this.#length) {
      this.#target =
        chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      return;
    }
    this.#target ??= Buffer.allocUnsafe(this.#length);
    this.#target.set(chunk, this.#at);
    this.#at += chunk.byteLength;
  }

  end(): void {
    this.#subscriber.next(this.#target ?? Buffer.alloc(0));
    this.#subscriber.complete();
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }
}

/** A body of unknown length. */
class Gather implements Sink {
  readonly paused = false;
  readonly #subscriber: Subscriber<Buffer>;
  readonly #pieces: Uint8Array[] = [];

  constructor(subscriber: Subscriber<Buffer>) {
    this.#subscriber = subscriber;
  }

  piece(chunk: Uint8Array, lent: boolean): void {
    this.#pieces.push(lent ? Buffer.from(chunk) : chunk);
  }

  end(): void {
    this.#subscriber.next(Buffer.concat(this.#pieces));
    this.#subscriber.complete();
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }
}

/** The body as it comes. */
class Pass implements Sink {
  readonly #subscriber: Subscriber<Buffer>;
  readonly #demand: Demand;

  constructor(subscriber: Subscriber<Buffer>, demand: Demand) {
    this.#subscriber = subscriber;
    this.#demand = demand;
  }

  get paused(): boolean {
    return this.#demand.paused;
  }

  piece(chunk: Uint8Array, lent: boolean): void {
    this.#subscriber.next(lent || !(chunk instanceof Buffer) ? Buffer.from(chunk) : chunk);
  }

  end(): void {
    this.#subscriber.complete();
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }
}
