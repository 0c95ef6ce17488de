/** A transform that replaces the errors that clients are meant to see; what else was thrown stays a 500. */
import type { Observer } from 'rxjs';
import { ApiError } from '../../src/errors.ts';
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
    this.receiver.error(error instanceof ApiError ? this.#replace(error) : error);
  }
}
