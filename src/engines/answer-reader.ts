/** The bytes of an engine's answer in, the parts of it out: read by read when it streams, all at once when it does not. */
import type { Logger } from 'pino';
import type { Subscriber, Unsubscribable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { type ApiError, asApiError, fail } from '../errors.ts';
import type { ChatCall, Parts } from '../ports/chat.ts';
import type { Flow } from '../ports/engine.ts';
import type { EngineRequest } from './dispatch.ts';
import type { EngineCall, EngineHead, EngineReader } from './http-call.ts';
import type { ReplicaPool } from './pool.ts';
import type { StreamDecoder, Wire } from './wire.ts';

/** What all answers of one engine have in common. */
export interface AnswerContext {
  readonly wire: Wire;
  readonly pool: ReplicaPool;
  readonly log: Logger;
}

const WHOLE_LIMIT = 32 * 1024 * 1024;

/** Fails by erroring while nothing was emitted, by a last `failure` part afterwards. Ends its call when it is let go. */
export class AnswerReader implements EngineReader, Unsubscribable {
  readonly #context: AnswerContext;
  readonly #model: Model;
  readonly #call: ChatCall;
  readonly #flow: Flow;
  readonly #subscriber: Subscriber<Parts>;
  #running: EngineCall | undefined;
  #head: EngineHead | undefined;
  #stream: StreamDecoder | undefined;
  #body: Buffer[] | undefined;
  #bodyBytes = 0;
  #emitted = false;

  constructor(
    context: AnswerContext,
    model: Model,
    call: ChatCall,
    flow: Flow,
    subscriber: Subscriber<Parts>,
  ) {
    this.#context = context;
    this.#model = model;
    this.#call = call;
    this.#flow = flow;
    this.#subscriber = subscriber;
  }

  /** Throws when there is nobody to ask. */
  send(request: EngineRequest): void {
    this.#running = this.#context.pool.send(request, this.#flow, this);
  }

  unsubscribe(): void {
    this.#running?.close();
  }

  head(head: EngineHead): void {
    this.#head = head;
    // Some servers answer in one piece although a stream was asked for, above all when they have an error to report.
    const whole = !this.#call.stream || head.contentType.startsWith('application/json');
    if (!whole) this.#stream = this.#context.wire.decodeStream(this.#model, this.#call);
  }

  bytes(bytes: Buffer, last: boolean): void {
    if (this.#stream === undefined) this.#collect(bytes, last);
    else this.#read(this.#stream, bytes);
  }

  end(): void {
    if (this.#stream === undefined) this.#decodeBody();
    else this.#endStream(this.#stream, undefined);
  }

  error(error: ApiError): void {
    if (this.#stream === undefined) this.#fail(error);
    else this.#endStream(this.#stream, error);
  }

  #read(stream: StreamDecoder, bytes: Buffer): void {
    let parts: Parts;
    try {
      parts = stream.push(bytes);
    } catch (thrown) {
      this.#fail(asApiError(thrown));
      return;
    }
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
    let parts: Parts;
    try {
      parts = stream.end();
    } catch (thrown) {
      this.#fail(broken ?? asApiError(thrown));
      return;
    }
    this.#report(stream);
    this.#emit(parts);
    if (stream.failure !== undefined) this.#fail(broken ?? stream.failure);
    else this.#subscriber.complete();
  }

  #collect(bytes: Buffer, last: boolean): void {
    const piece = last ? bytes : Buffer.from(bytes);
    if (this.#body === undefined) this.#body = [piece];
    else this.#body.push(piece);
    this.#bodyBytes += bytes.length;
    if (this.#bodyBytes <= WHOLE_LIMIT) return;
    this.#body = undefined;
    this.#fail(fail('engine_unreachable', 'The engine sent too long an answer'));
  }

  #decodeBody(): void {
    try {
      this.#emit(this.#context.wire.decodeWhole(this.#model, this.#call, joined(this.#body ?? [])));
    } catch (thrown) {
      this.#fail(asApiError(thrown));
      return;
    }
    this.#subscriber.complete();
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

  #report({ malformed }: StreamDecoder): void {
    const { requestId } = this.#flow;
    if (malformed > 0)
      this.#context.log.warn({ requestId, events: malformed }, 'engine sent malformed events');
  }
}

const joined = (pieces: readonly Buffer[]): Buffer => {
  const only = pieces[0];
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
};
