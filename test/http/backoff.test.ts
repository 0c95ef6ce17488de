/** Tests that exponential backoff grows by the factor up to the maximum. */
import t from 'tap';
import { exponentialBackoff } from '../../src/helpers/backoff.ts';

const waits = (backoff: (retry: number) => number) => [1, 2, 3, 4, 5, 10_000].map(backoff);

t.test('doubles up to the longest wait', async (t) => {
  t.strictSame(waits(exponentialBackoff({ first: 100, most: 1000 })), [100, 200, 400, 800, 1000, 1000]);
});

t.test('another factor, without a longest wait', async (t) => {
  t.strictSame(waits(exponentialBackoff({ first: 100, factor: 4 })).slice(0, 4), [100, 400, 1600, 6400]);
});
