/** Small transforms that several families share. */
import { ApiError } from '../../src/errors.ts';
import { type Transform, transform } from './stage.ts';

/** Makes one value of all parts, once the last has come. */
export const gather = <Part, Out, Context>(
  make: (parts: readonly Part[], context: Context) => Out,
): Transform<Part, Out, Context> =>
  transform((next, context) => {
    const parts: Part[] = [];
    return {
      next: (part) => {
        parts.push(part);
      },
      error: (error) => next.error(error),
      complete: () => {
        next.next(make(parts, context));
        next.complete();
      },
    };
  });

/** Replaces the errors that clients are meant to see; whatever else was thrown stays a 500. */
export const mapErrors = <Part>(replace: (error: ApiError) => ApiError): Transform<Part, Part, unknown> =>
  transform((next) => ({
    next: (part) => next.next(part),
    error: (error) => next.error(error instanceof ApiError ? replace(error) : error),
    complete: () => next.complete(),
  }));
