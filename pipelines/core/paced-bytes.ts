/** Sends a large body in chunks, as fast as the client reads them. */
import type { Observer } from 'rxjs';
import type { Backpressure, Pausable } from '../../src/ports/backpressure.ts';
import type { Exchange, Head, Reply } from '../../src/ports/exchange.ts';
import { Forwarder, type Transform, transform } from './stage.ts';

/** Where the next bytes of any response are put together: its receiver copies what it keeps. */
const memory = Buffer.allocUnsafeSlow(64 * 1024);
/** Written in one tick of the event loop, however fast the reader is. */
const tickBytes = 512 * 1024;

/** Texts must be ASCII or Latin-1: numbers, base64, names of fields. */
export type BodyChunk = string | Uint8Array;

/** A body that is too large to be written at once, until its usage event is durable. */
export interface PacedReply {
  readonly kind: 'paced';
  /** Absent: it is out already. */
  readonly head?: Head;
  readonly chunks: Iterable<BodyChunk>;
}

export type FramedReply = Reply | PacedReply;

/** Writes paced replies, behind the stage that records the usage. */
export const writePaced: Transform<
  FramedReply,
  Reply,
  { readonly exchange: Pick<Exchange, 'backpressure'> }
> = transform((next, { exchange }) => new PacedWriter(next, exchange.backpressure));

class PacedWriter extends Forwarder<FramedReply, Reply> {
  readonly #backpressure: Backpressure;
  #paced: PacedBytes | undefined;

  constructor(receiver: Observer<Reply>, backpressure: Backpressure) {
    super(receiver);
    this.#backpressure = backpressure;
  }

  next(reply: FramedReply): void {
    if (reply.kind !== 'paced') {
      this.receiver.next(reply);
      return;
    }
    if (reply.head !== undefined) this.receiver.next(reply.head);
    this.#paced = new PacedBytes(reply.chunks, this.#backpressure, this.receiver);
  }

  override complete(): void {
    if (this.#paced === undefined) this.receiver.complete();
    else this.#paced.start();
  }

  onTeardown(): void {
    this.#paced?.stop();
  }
}

export class PacedBytes implements Pausable {
  readonly #chunks: Iterator<BodyChunk>;
  readonly #backpressure: Backpressure;
  readonly #receiver: Observer<Reply>;
  #paused = false;
  #tick: NodeJS.Immediate | undefined;
  /** Of a chunk that did not fit behind those before it. */
  #rest: BodyChunk | undefined;

  constructor(chunks: Iterable<BodyChunk>, backpressure: Backpressure, receiver: Observer<Reply>) {
    this.#chunks = chunks[Symbol.iterator]();
    this.#backpressure = backpressure;
    this.#receiver = receiver;
  }

  start(): void {
    this.#backpressure.attach(this);
    if (!this.#paused) this.#send();
  }

  stop(): void {
    this.#backpressure.detach(this);
    this.pause();
  }

  pause(): void {
    this.#paused = true;
    clearImmediate(this.#tick);
    this.#tick = undefined;
  }

  resume(): void {
    this.#paused = false;
    this.#later();
  }

  #later(): void {
    this.#tick ??= setImmediate(() => {
      this.#tick = undefined;
      this.#send();
    });
  }

  /** Runs in a callback of its own, so what the chunks throw must be caught here. */
  #send(): void {
    try {
      this.#sendTick();
    } catch (thrown) {
      this.stop();
      this.#receiver.error(thrown);
    }
  }

  #sendTick(): void {
    for (let sent = 0; sent < tickBytes && !this.#paused; ) {
      const bytes = this.#gather();
      if (bytes.length === 0) {
        this.stop();
        this.#receiver.complete();
        return;
      }
      sent += bytes.length;
      this.#receiver.next({ kind: 'bytes', bytes, last: true });
    }
    if (!this.#paused) this.#later();
  }

  /** As much as there is memory for. */
  #gather(): Uint8Array {
    let length = 0;
    for (let chunk = this.#rest ?? this.#next(); chunk !== undefined; chunk = this.#next()) {
      const room = memory.length - length;
      if (typeof chunk === 'string') memory.write(chunk, length, 'latin1');
      else memory.set(chunk.subarray(0, room), length);
      length += Math.min(chunk.length, room);
      this.#rest = chunk.length > room ? after(chunk, room) : undefined;
      if (this.#rest !== undefined) break;
    }
    return memory.subarray(0, length);
  }

  #next(): BodyChunk | undefined {
    const { value, done } = this.#chunks.next();
    return done === true ? undefined : value;
  }
}

const after = (chunk: BodyChunk, bytes: number): BodyChunk =>
  typeof chunk === 'string' ? chunk.slice(bytes) : chunk.subarray(bytes);
