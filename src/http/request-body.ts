/** A request body as it arrives: read whole or in chunks, with limits and backpressure. */
import { Observable, type Subscriber, type Unsubscribable } from 'rxjs';
import { fail } from '../errors.ts';
import type { Backpressure } from '../ports/backpressure.ts';
import type { IncomingBody } from '../ports/exchange.ts';
import { BodyPace } from './body-pace.ts';
import { Fill, Gather, Pass, type Sink } from './body-sinks.ts';
import type { Channel } from './channel.ts';
import type { EdgeLimits } from './limits.ts';

/** Bytes of an unwanted body that are cheaper to read than a new connection is. */
const smallRest = 64 * 1024;
/** Bytes buffered for a slow reader. Up to here the socket is read on: while it is paused a disconnect goes unnoticed. */
const maxBuffered = 64 * 1024;

export class RequestBody implements IncomingBody, Unsubscribable {
  readonly length: number | undefined;
  readonly #limit: number;
  readonly #channel: Channel;
  /** Created with the first chunk that has to wait. */
  #waiting: Uint8Array[] | undefined;
  #waitingBytes = 0;
  #received = 0;
  #arrived = false;
  #stopped = false;
  #opened = false;
  #sink: Sink | undefined;
  /** Created for bodies that outlast a tick. */
  #pace: BodyPace | undefined;

  constructor(channel: Channel, length: number | undefined, limit: number) {
    this.#channel = channel;
    this.length = length;
    this.#limit = limit;
  }

  /** Nobody reads on. False: so much is still to come that the connection should be closed. */
  dismiss(): boolean {
    if (this.#arrived) return true;
    this.#opened = true;
    this.#sink = undefined;
    this.#release();
    if (this.#stopped) this.#channel.resumeBody();
    this.#stopped = false;
    return this.length !== undefined && this.length - this.#received <= smallRest;
  }

  /** The error message for a client that is too slow, checked at every tick; undefined: it is not. */
  lateness(now: number, limits: EdgeLimits): string | undefined {
    if (this.#arrived || this.#stopped) {
      this.#pace = undefined;
      return undefined;
    }
    this.#pace ??= new BodyPace(now, this.#received);
    const late = this.#pace.lateness(now, this.#received, limits);
    if (late === undefined) this.#channel.excuse();
    return late;
  }

  /** Bytes of it in memory while it arrives. */
  get buffered(): number {
    return this.#waitingBytes + (this.#sink?.buffered ?? 0);
  }

  whole(borrow = false): Observable<Buffer> {
    return new Observable((subscriber) => {
      const { length } = this;
      this.#open(
        subscriber,
        length === undefined ? new Gather(subscriber) : new Fill(subscriber, length, borrow),
      );
    });
  }

  chunks(backpressure: Backpressure): Observable<Buffer> {
    return new Observable<Buffer>((subscriber) => {
      const sink = new Pass(subscriber, backpressure);
      const listener = { pause: () => {}, resume: () => this.#flush() };
      backpressure.attach(listener);
      subscriber.add(() => backpressure.detach(listener));
      this.#open(subscriber, sink);
    });
  }

  /** Its reader unsubscribed: the rest stays unread in the socket. */
  unsubscribe(): void {
    if (this.#sink !== undefined) this.#stop();
    this.#sink = undefined;
    this.#release();
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
    if (sink !== undefined && !sink.paused && this.#waitingBytes === 0) {
      if (chunk.byteLength > 0) sink.chunk(chunk, this.#channel.borrowsBody, last);
      if (last) this.#end();
      return;
    }
    // Nobody reads yet, or the reader is paused: this chunk waits here, the rest stays in the socket.
    if (this.#opened && sink === undefined) return;
    if (chunk.byteLength > 0) {
      this.#waiting ??= [];
      this.#waiting.push(this.#channel.borrowsBody ? Buffer.from(chunk) : chunk);
    }
    this.#waitingBytes += chunk.byteLength;
    if (!last && this.#waitingBytes > maxBuffered) this.#stop();
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
    subscriber.add(this);
    this.#channel.askForBody();
    this.#flush();
  }

  #flush(): void {
    const sink = this.#sink;
    while (sink !== undefined && this.#sink === sink && !sink.paused) {
      const chunk = this.#waiting?.shift();
      if (chunk !== undefined) {
        this.#waitingBytes -= chunk.byteLength;
        sink.chunk(chunk, false, false);
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
    if (this.#waitingBytes === 0) return;
    this.#waiting = undefined;
    this.#waitingBytes = 0;
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
