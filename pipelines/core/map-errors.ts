/** A transform that replaces the errors of a response and leaves its parts as they are. */
import type { Observer } from 'rxjs';
import { type ApiError, asApiError } from '../../src/errors.ts';
import { Forwarder, type Transform, transform } from './stage.ts';

export const mapErrors = <Part>(replace: (error: ApiError) => ApiError): Transform<Part, Part, unknown> =>
  transform((next) => new ErrorMapper(next, replace));

class ErrorMapper<Part> extends Forwarder<Part, Part> {
  readonly #replace: (error: ApiError) => ApiError;

  constructor(receiver: Observer<Part>, replace: (error: ApiError) => ApiError) {
    super(receiver);
    this.#replace = replace;
  }

  next(part: Part): void {
    this.receiver.next(part);
  }

  override error(error: unknown): void {
    this.receiver.error(this.#replace(asApiError(error)));
  }
}
