/** Runs long responses of the admin port, a bounded number of each kind at once. */
import { fail } from '../errors.ts';

/** The function that runs one, or rejects with `unavailable` and this sentence. */
export const atMost = (most: number, busy: string) => {
  let count = 0;
  return async <Result>(run: () => Promise<Result>): Promise<Result> => {
    if (count >= most) throw fail('unavailable', busy);
    count++;
    try {
      return await run();
    } finally {
      count--;
    }
  };
};
