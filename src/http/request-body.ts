/** Pieces of a request body as the socket gives them in; the body whole or as a stream that can be paused out. */
import { Observable, type Subscriber, type Unsubscribable } from 'rxjs';
import { fail } from '../errors.ts';
import type { Backpressure } from '../ports/backpressure.ts';
import type { IncomingBody } from '../ports/exchange.ts';
import { Source } from '../source.ts';
import { BodyPace } from './body-pace.ts';
import { Fill, Gather, Pass, type Sink } from './body-sinks.ts';
import type { Channel } from './channel.ts';
import type { EdgeLimits } from './limits.ts';

/** Bytes of an unwanted body that are cheaper to let pass than to end a connection for. */
const smallRest = 64 * 1024;
/** Bytes kept for a reader that is behind. Up to here the socket is read on: one that is not hears of no hang-up. */
const maxHeld = 64 * 1024;

export class RequestBody implements IncomingBody, Unsubscribable {
  readonly length: number | undefined;
  readonly #limit: number;
  readonly #channel: Channel;
  /** Made when something must be kept. */
  #held: Uint8Array[] | undefined;
  #heldBytes = 0;
  #received = 0;
  #arrived = false;
  #stopped = false;
  #opened = false;
  #sink: Sink | undefined;
  /** Made for bodies that outlast a tick. */
  #pace: BodyPace | undefined;

  constructor(channel: Channel, length: number | undefined, limit: number) {
    this.#channel = channel;
    this.length = length;
    this.#limit = limit;
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
      this.#pace = undefined;
      return undefined;
    }
    this.#pace ??= new BodyPace(now, this.#received);
    const late = this.#pace.lateness(now, this.#received, limits);
    if (late === undefined) this.#channel.excuse();
    return late;
  }

  /** Bytes of it in memory while it arrives. */
  get held(): number {
    return this.#heldBytes + (this.#sink?.held ?? 0);
  }

  whole(lent = false): Observable<Buffer> {
    return new Whole(this, lent);
  }

  chunks(backpressure: Backpressure): Observable<Buffer> {
    return new Observable<Buffer>((subscriber) => {
      const sink = new Pass(subscriber, backpressure);
      const listener = { pause: () => {}, resume: () => this.#flush() };
      backpressure.attach(listener);
      subscriber.add(() => backpressure.detach(listener));
      this.open(subscriber, sink);
    });
  }

  /** Its reader has left: what is still to come stays in the network. */
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
    if (sink !== undefined && !sink.paused && this.#heldBytes === 0) {
      if (chunk.byteLength > 0) sink.piece(chunk, this.#channel.lendsBody, last);
      if (last) this.#end();
      return;
    }
    // Nobody reads yet, or the reader is behind: what is in hand is kept, the rest stays in the network.
    if (this.#opened && sink === undefined) return;
    if (chunk.byteLength > 0) {
      this.#held ??= [];
      this.#held.push(this.#channel.lendsBody ? Buffer.from(chunk) : chunk);
    }
    this.#heldBytes += chunk.byteLength;
    if (!last && this.#heldBytes > maxHeld) this.#stop();
  }

  open(subscriber: Subscriber<Buffer>, sink: Sink): void {
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
      const chunk = this.#held?.shift();
      if (chunk !== undefined) {
        this.#heldBytes -= chunk.byteLength;
        sink.piece(chunk, false, false);
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
    if (this.#heldBytes === 0) return;
    this.#held = undefined;
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

class Whole extends Source<Buffer> {
  readonly #body: RequestBody;
  readonly #lent: boolean;

  constructor(body: RequestBody, lent: boolean) {
    super();
    this.#body = body;
    this.#lent = lent;
  }

  override open(subscriber: Subscriber<Buffer>): void {
    const { length } = this.#body;
    this.#body.open(
      subscriber,
      length === undefined ? new Gather(subscriber) : new Fill(subscriber, length, this.#lent),
    );
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
