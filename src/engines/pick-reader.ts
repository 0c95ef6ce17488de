/** The bytes of an engine's whole answer in, read as they come; what its decoder made of them out. */
import type { Subscriber } from 'rxjs';
import { type ApiError, asApiError, fail } from '../errors.ts';
import type { EngineReader } from './http-call.ts';

export interface PickDecoder<Result> {
  /** The bytes are its own to keep. Throws `engine_unreachable` when they are no answer. */
  push(bytes: Buffer): void;
  /** The answer is over. Throws the failure it carries, or `engine_unreachable` when something is missing. */
  end(): Result;
}

const longestAnswer = 256 * 1024 * 1024;

export class PickReader<Result> implements EngineReader {
  readonly #decoder: PickDecoder<Result>;
  readonly #subscriber: Subscriber<Result>;
  #bytes = 0;

  constructor(decoder: PickDecoder<Result>, subscriber: Subscriber<Result>) {
    this.#decoder = decoder;
    this.#subscriber = subscriber;
  }

  head(): void {}

  bytes(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > longestAnswer) {
      this.#subscriber.error(fail('engine_unreachable', 'The engine sent too long an answer'));
      return;
    }
    try {
      this.#decoder.push(Buffer.from(bytes));
    } catch (thrown) {
      this.#subscriber.error(asApiError(thrown));
    }
  }

  end(): void {
    let result: Result;
    try {
      result = this.#decoder.end();
    } catch (thrown) {
      this.#subscriber.error(asApiError(thrown));
      return;
    }
    this.#subscriber.next(result);
    this.#subscriber.complete();
  }

  error(error: ApiError): void {
    this.#subscriber.error(error);
  }
}
