/** Whatever fails on the decisions route in; the statuses of that route out: 422 for the request, 529 for a busy model, 502 for a broken one. */
import { catchError, type MonoTypeOperatorFunction } from 'rxjs';
import { ApiError, asApiError, type ErrorKind } from '../../src/errors.ts';

const kinds: Partial<Record<ErrorKind, ErrorKind>> = {
  invalid_request: 'unprocessable',
  unavailable: 'overloaded',
  timeout: 'engine_unreachable',
};

export const decisionFailures = <T>(): MonoTypeOperatorFunction<T> =>
  catchError((thrown: unknown) => {
    const error = asApiError(thrown);
    const kind = kinds[error.kind];
    if (kind === undefined) throw error;
    throw new ApiError(kind, error.message, { headers: error.headers, cause: error.cause });
  });
