/** What a store failed with in; the failure a client may see out. */
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
