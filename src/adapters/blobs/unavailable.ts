/** Turns failures of a store into errors that a client may see. */
import { ApiError, fail } from '../../errors.ts';

export const asUnavailable = (thrown: unknown): ApiError =>
  thrown instanceof ApiError
    ? thrown
    : fail('unavailable', 'The store of files cannot answer now', { cause: thrown });

export const orUnavailable = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw asUnavailable(error);
  }
};

export const missing = (): ApiError => fail('not_found', 'There is no such file');
