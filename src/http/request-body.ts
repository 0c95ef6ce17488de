/** A request body as it arrives: read whole or in chunks, with limits and backpressure. */
import { Observable, type Subscriber, type Unsubscribable } from 'rxjs';
import { type ApiError, fail } from '../errors.ts';
import { JoinedBytes } from '../joined-bytes.ts';
import { retryAfter } from '../pace.ts';
import type { Backpressure } from '../ports/backpressure.ts';
import type { IncomingBody } from '../ports/exchange.ts';
import { type BodyBudget, BodyClaim, type BodyScope, freeBodyBytes } from './body-budget.ts';
import { BodyPace } from './body-pace.ts';
import { Fill, Gather, Pass, type Sink } from './body-sinks.ts';
import type { Channel } from './channel.ts';
import type { EdgeLimits } from './limits.ts';

/** Bytes of an unwanted body that are cheaper to read than a new connection is. */
const smallRest = 64 * 1024;
/** Bytes buffered for a slow reader. Up to here the socket is read on: while it is paused a disconnect goes unnoticed. */
const maxBuffered = 64 * 1024;
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
  /** Created for bodies that outlast a tick. */
  #pace: BodyPace | undefined;
  /** Bytes that it may have in memory. */
  #room = freeBodyBytes;
  /** Created for bodies that need more. */
  #claim: BodyClaim | undefined;
  #waitsSince: number | undefined;
  #admitted = false;

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
    if (this.#claim !== undefined) this.#budget.admit(this.#claim);
  }

  /** The request is over, and holds nothing of it any more. */
  finish(): void {
    if (this.#claim !== undefined) this.#budget.release(this.#claim);
    this.#claim = undefined;
  }

  /** The error message for a client that is too slow, checked at every tick; undefined: it is not. */
  lateness(now: number, limits: EdgeLimits): string | undefined {
    const claim = this.#claim;
    // uWebSockets.js starts its time-out anew after a handler, even if that paused the body; pausing again stops it.
    if (this.#stopped) this.#channel.pauseBody();
    if (claim !== undefined && claim.wanted > 0) {
      this.#pace?.pause(now);
      this.#waitsSince ??= now;
      if (now - this.#waitsSince < limits.bodyWaitMs) return undefined;
      this.#budget.refuse(claim);
      return undefined;
    }
    this.#waitsSince = undefined;
    if (this.#arrived || this.#stopped) {
      this.#pace?.pause(now);
      return undefined;
    }
    this.#pace ??= new BodyPace(now, this.#received);
    const late = this.#pace.lateness(now, this.#received, limits, claim !== undefined);
    if (late === undefined) this.#channel.excuse();
    return late;
  }

  /** Bytes of it in memory while it arrives. */
  get buffered(): number {
    return (this.#waiting?.length ?? 0) + (this.#sink?.buffered ?? 0);
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
      if (stored) this.#room = Number.POSITIVE_INFINITY;
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
    if (sink !== undefined) {
      const fault = this.#fault(this.#received);
      if (fault !== undefined) {
        this.#fail(fault);
        return;
      }
      if (this.#waiting === undefined && !sink.paused && this.#reserve()) {
        if (chunk.byteLength > 0) sink.chunk(chunk, this.#channel.borrowsBody, last);
        if (last) this.#end();
        return;
      }
    }
    // Nobody reads yet, or the reader is paused: this chunk waits here, the rest stays in the socket.
    if (this.#opened && this.#sink === undefined) return;
    this.#waiting ??= new JoinedBytes();
    this.#waiting.add(chunk, !this.#channel.borrowsBody);
    if (!last && this.#waiting.length > maxBuffered) this.#stop();
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
    if (!this.#requested) this.#channel.askForBody();
    this.#requested = true;
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
    return wanted <= this.#room || this.#claimMore(wanted - this.#room);
  }

  #claimMore(missing: number): boolean {
    this.#claim ??= new BodyClaim(this.#budget, this.subscription, this.#admitted, {
      granted: () => this.#granted(),
      refused: (scope) => this.#fail(refusal(scope)),
    });
    const claim = this.#claim;
    if (claim.wanted > 0) return false;
    // Of unknown length: twice as much as before, so that it seldom has to claim.
    const bytes =
      this.length === undefined ? Math.min(Math.max(missing, this.#room), this.#limit - this.#room) : missing;
    if (this.#budget.take(claim, bytes)) {
      this.#room += bytes;
      return true;
    }
    this.#stop();
    return false;
  }

  #granted(): void {
    this.#room = freeBodyBytes + (this.#claim?.held ?? 0);
    this.#flush();
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end();
  }

  #fail(error: ApiError): void {
    const sink = this.#sink;
    this.#stop();
    this.#sink = undefined;
    this.#waiting = undefined;
    sink?.error(error);
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

const refusal = (scope: BodyScope): ApiError =>
  scope === 'subscription'
    ? fail(
        'rate_limited',
        'Too many large request bodies of this subscription are on their way; retry later',
        {
          headers: retryAfter(ownRetryMs),
        },
      )
    : fail('unavailable', 'Too many large request bodies are on their way; retry later', {
        headers: retryAfter(retryMs),
      });

const ownRetryMs = 10_000;
const retryMs = 5_000;

/** The body of a request that has none. */
export const emptyBody: IncomingBody = {
  length: 0,
  whole: () =>
    new Observable((subscriber) => {
      subscriber.next(Buffer.alloc(0));
      subscriber.complete();
    }),
  chunks: () => new Observable((subscriber) => subscriber.complete()),
  admitted: () => {},
};
