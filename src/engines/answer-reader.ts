/** The bytes of an engine's answer in, the parts of it out: read by read when it streams, all at once when it does not. */
import type { Subscriber } from 'rxjs';
import { type ApiError, asApiError, fail } from '../errors.ts';
import type { Parts } from '../ports/chat.ts';
import type { EngineHead, EngineReader } from './http-call.ts';
import type { StreamDecoder } from './wire.ts';

export interface AnswerDecoding {
  readonly streams: boolean;
  stream(): StreamDecoder;
  whole(body: Buffer): Parts;
  /** Told once, of an answer in which events had to be skipped. */
  malformed(events: number): void;
}

const WHOLE_LIMIT = 32 * 1024 * 1024;

/** Fails by erroring while nothing was emitted, by a last `failure` part afterwards. */
export class AnswerReader implements EngineReader {
  readonly #decoding: AnswerDecoding;
  readonly #subscriber: Subscriber<Parts>;
  #head: EngineHead | undefined;
  #stream: StreamDecoder | undefined;
  #body: Buffer[] = [];
  #bodyBytes = 0;
  #emitted = false;

  constructor(decoding: AnswerDecoding, subscriber: Subscriber<Parts>) {
    this.#decoding = decoding;
    this.#subscriber = subscriber;
  }

  head(head: EngineHead): void {
    this.#head = head;
    // Some servers answer in one piece although a stream was asked for, above all when they have an error to report.
    const whole = !this.#decoding.streams || head.contentType.startsWith('application/json');
    if (!whole) this.#stream = this.#decoding.stream();
  }

  bytes(bytes: Buffer): void {
    if (this.#stream !== undefined) this.#read(this.#stream, bytes);
    else {
      this.#body.push(bytes);
      this.#bodyBytes += bytes.length;
      if (this.#bodyBytes > WHOLE_LIMIT)
        this.#fail(fail('engine_unreachable', 'The engine sent too long an answer'));
    }
  }

  end(): void {
    if (this.#stream !== undefined) this.#endStream(this.#stream, undefined);
    else {
      const parts = this.#try(() => this.#decoding.whole(this.#joined()));
      if (parts === undefined) return;
      this.#emit(parts);
      this.#subscriber.complete();
    }
  }

  error(thrown: unknown): void {
    const error = asApiError(thrown);
    if (this.#stream === undefined) this.#fail(error);
    else this.#endStream(this.#stream, error);
  }

  #read(stream: StreamDecoder, bytes: Buffer): void {
    const parts = this.#try(() => stream.push(bytes));
    if (parts === undefined) return;
    this.#emit(parts);
    if (stream.failure !== undefined) this.#fail(stream.failure);
    else if (stream.done) {
      this.#head?.settle();
      this.#report(stream);
      this.#subscriber.complete();
    }
  }

  /** A connection may break once everything was said; before that its own error says more than a missing end. */
  #endStream(stream: StreamDecoder, broken: ApiError | undefined): void {
    const parts = this.#try(() => stream.end());
    if (parts === undefined) return;
    this.#report(stream);
    this.#emit(parts);
    if (stream.failure !== undefined) this.#fail(broken ?? stream.failure);
    else this.#subscriber.complete();
  }

  #emit(parts: Parts): void {
    if (parts.length === 0) return;
    this.#emitted = true;
    this.#subscriber.next(parts);
  }

  #fail(error: ApiError): void {
    if (this.#emitted) {
      this.#subscriber.next([{ type: 'failure', error }]);
      this.#subscriber.complete();
    } else this.#subscriber.error(error);
  }

  #try(decode: () => Parts): Parts | undefined {
    try {
      return decode();
    } catch (thrown) {
      this.#fail(asApiError(thrown));
      return undefined;
    }
  }

  #report(stream: StreamDecoder): void {
    if (stream.malformed > 0) this.#decoding.malformed(stream.malformed);
  }

  #joined(): Buffer {
    const body = this.#body;
    return body.length === 1 && body[0] !== undefined ? body[0] : Buffer.concat(body, this.#bodyBytes);
  }
}
