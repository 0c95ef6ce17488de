/** A request body as it arrives: read whole or in chunks, with limits and backpressure. */
import { Observable, of, type Subscriber, type Unsubscribable } from 'rxjs';
import { type ApiError, fail } from '../../errors.ts';
import { JoinedBytes } from '../../helpers/joined-bytes.ts';
import type { Backpressure } from '../../ports/backpressure.ts';
import { type IncomingBody, smallBodyBytes } from '../../ports/exchange.ts';
import type { EdgeLimits } from '../limits.ts';
import type { Channel } from '../servers/channel.ts';
import type { BodyBudget } from './budget.ts';
import { BodyMemory } from './memory.ts';
import { BodyPace } from './pace.ts';
import { Fill, Gather, Pass, type Sink } from './sinks.ts';

/** Bytes of an unwanted body that are cheaper to read than a new connection is. */
const smallRest = 64 * 1024;
/** Bytes buffered for a slow reader. Up to here the socket is read on: while it is paused a disconnect goes unnoticed. */
const maxBuffered = smallBodyBytes;
/** Every chunk takes CPU time: beyond so many they have to be of some size on average. */
const freeChunks = 4096;
const minChunkBytes = 64;

export class RequestBody implements IncomingBody, Unsubscribable {
  readonly length: number | undefined;
  /** Whose memory it takes, once that is known. */
  subscription = '';
  readonly #limit: number;
  readonly #channel: Channel;
  readonly #budget: BodyBudget;
  /** Created with the first chunk that has to wait. */
  #waiting: JoinedBytes | undefined;
  #received = 0;
  #chunks = 0;
  #arrived = false;
  #stopped = false;
  #opened = false;
  #requested = false;
  #sink: Sink | undefined;
  /** Waits for the first bytes. */
  #prefix: Subscriber<Buffer | undefined> | undefined;
  /** Created for bodies that outlast a tick. */
  #pace: BodyPace | undefined;
  /** Created for bodies that are not small. */
  #memory: BodyMemory | undefined;
  #admitted = false;
  /** Its reader keeps none of it in memory. */
  #stored = false;

  constructor(channel: Channel, length: number | undefined, limit: number, budget: BodyBudget) {
    this.#channel = channel;
    this.length = length;
    this.#limit = limit;
    this.#budget = budget;
  }

  /** Nobody reads on. False: so much is still to come that the connection should be closed. */
  dismiss(): boolean {
    if (this.#arrived) return true;
    this.#opened = true;
    this.#sink = undefined;
    this.#waiting = undefined;
    if (this.#stopped) this.#channel.resumeBody();
    this.#stopped = false;
    return this.length !== undefined && this.length - this.#received <= smallRest;
  }

  admitted(): void {
    this.#admitted = true;
    this.#memory?.admitted();
  }

  /** The request is over, and holds nothing of it any more. */
  finish(): void {
    this.#memory?.release();
  }

  /** The error message for a client that is too slow, checked at every tick; undefined: it is not. */
  lateness(now: number, limits: EdgeLimits): string | undefined {
    // uWebSockets.js starts its time-out again after a handler, even if that paused the body; pausing again stops it.
    if (this.#stopped) this.#channel.pauseBody();
    if (this.#memory?.waits(now, limits.bodyWaitMs) === true || this.#arrived || this.#stopped) {
      this.#pace?.pause(now);
      return undefined;
    }
    this.#pace ??= new BodyPace(now, this.#received);
    const late = this.#pace.lateness(now, this.#received, limits, this.#memory !== undefined);
    if (late === undefined) this.#channel.excuse();
    return late;
  }

  /** Bytes of it in memory while it arrives. */
  get buffered(): number {
    return (this.#waiting?.length ?? 0) + (this.#sink?.buffered ?? 0);
  }

  prefix(): Observable<Buffer | undefined> {
    return new Observable((subscriber) => {
      this.#prefix = subscriber;
      subscriber.add(() => {
        this.#prefix = undefined;
      });
      const fault = this.#fault(this.length ?? this.#received);
      if (fault !== undefined) {
        this.#fail(fault);
        return;
      }
      this.#request();
      this.#showPrefix();
    });
  }

  #showPrefix(): void {
    const prefix = this.#prefix;
    const waiting = this.#waiting?.length ?? 0;
    if (prefix === undefined || (waiting <= smallBodyBytes && !this.#arrived)) return;
    prefix.next(waiting > smallBodyBytes ? this.#waiting?.first(smallBodyBytes) : undefined);
    prefix.complete();
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

  chunks(backpressure: Backpressure, stored = false): Observable<Buffer> {
    return new Observable<Buffer>((subscriber) => {
      const sink = new Pass(subscriber, backpressure);
      const listener = { pause: () => {}, resume: () => this.#flush() };
      backpressure.attach(listener);
      subscriber.add(() => backpressure.detach(listener));
      this.#stored = stored;
      this.#open(subscriber, sink);
    });
  }

  /** Its reader unsubscribed: the rest stays unread in the socket. */
  unsubscribe(): void {
    if (this.#sink !== undefined) this.#stop();
    this.#sink = undefined;
    this.#waiting = undefined;
  }

  push(chunk: Uint8Array, last: boolean): void {
    this.#received += chunk.byteLength;
    this.#chunks++;
    if (last) this.#arrived = true;
    const sink = this.#sink;
    if (sink !== undefined || this.#prefix !== undefined) {
      const fault = this.#fault(this.#received);
      if (fault !== undefined) {
        this.#fail(fault);
        return;
      }
    }
    if (sink !== undefined && this.#waiting === undefined && !sink.paused && this.#reserve()) {
      if (chunk.byteLength > 0) sink.chunk(chunk, this.#channel.borrowsBody, last);
      if (last) this.#end();
      return;
    }
    // Nobody reads yet, or the reader is paused: this chunk waits here, the rest stays in the socket.
    if (this.#opened && this.#sink === undefined) return;
    this.#waiting ??= new JoinedBytes();
    this.#waiting.add(chunk, !this.#channel.borrowsBody);
    if (!last && this.#waiting.length > maxBuffered) this.#stop();
    this.#showPrefix();
  }

  #open(subscriber: Subscriber<Buffer>, sink: Sink): void {
    if (this.#opened) {
      subscriber.error(new Error('A request body can be read only once'));
      return;
    }
    this.#opened = true;
    this.#sink = sink;
    const fault = this.#fault(this.length ?? this.#received);
    if (fault !== undefined) {
      this.#fail(fault);
      return;
    }
    subscriber.add(this);
    this.#flush();
  }

  #flush(): void {
    const sink = this.#sink;
    if (sink === undefined || !this.#reserve()) return;
    this.#request();
    while (this.#sink === sink && !sink.paused) {
      const chunk = this.#waiting?.shift();
      if (chunk !== undefined) {
        sink.chunk(chunk, false, false);
        continue;
      }
      this.#waiting = undefined;
      if (this.#arrived) this.#end();
      else if (this.#stopped) {
        this.#stopped = false;
        this.#channel.resumeBody();
      }
      return;
    }
  }

  /** False: there is no memory for it now. It is read on when there is, or it has failed. */
  #reserve(): boolean {
    const wanted = this.length ?? this.#received;
    if (wanted <= smallBodyBytes || this.#stored) return true;
    this.#memory ??= new BodyMemory(this.#budget, this, { most: this.#limit, admitted: this.#admitted });
    if (this.#memory.reserve(wanted)) return true;
    this.#stop();
    return false;
  }

  /** The memory that it waited for is there. */
  granted(): void {
    this.#flush();
  }

  refused(error: ApiError): void {
    this.#fail(error);
  }

  #request(): void {
    if (!this.#requested) this.#channel.askForBody();
    this.#requested = true;
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end();
  }

  #fail(error: ApiError): void {
    const reader = this.#sink ?? this.#prefix;
    this.#stop();
    this.#opened = true;
    this.#sink = undefined;
    this.#waiting = undefined;
    reader?.error(error);
  }

  #stop(): void {
    if (this.#stopped || this.#arrived) return;
    this.#stopped = true;
    this.#channel.pauseBody();
  }

  #fault(length: number): ApiError | undefined {
    if (length > this.#limit)
      return fail('payload_too_large', `Request body is larger than the limit of ${this.#limit} bytes`);
    return this.#chunks > freeChunks && this.#received <= minChunkBytes * this.#chunks
      ? fail(
          'invalid_request',
          `Chunks of the request body must have more than ${minChunkBytes} bytes on average`,
        )
      : undefined;
  }
}

/** The body of a request that has none. */
export const emptyBody: IncomingBody = {
  length: 0,
  prefix: () => of(undefined),
  whole: () =>
    new Observable((subscriber) => {
      subscriber.next(Buffer.alloc(0));
      subscriber.complete();
    }),
  chunks: () => new Observable((subscriber) => subscriber.complete()),
  admitted: () => {},
};
