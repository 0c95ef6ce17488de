/** Tests that large reads share a quota per tick while small reads never wait. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { ReadQuota } from '../../src/engines/http1/read-quota.ts';

const kilobytes = 1024;

t.test('small reads are not counted', async (t) => {
  const quota = new ReadQuota();
  const reader = { continueReading: () => t.fail('it never waited') };
  for (let n = 0; n < 1000; n++) t.equal(quota.take(8 * kilobytes, reader), true);
  await setImmediate();
});

t.test('past the quota of a tick readers wait, and continue in order, some per tick', async (t) => {
  const quota = new ReadQuota();
  const going: number[] = [];
  const readers = Array.from({ length: 40 }, (_, index) => ({
    continueReading: () => void going.push(index),
  }));
  const allowed = readers.map((reader) => quota.take(64 * kilobytes, reader));
  t.equal(allowed.filter(Boolean).length, 15, 'a megabyte is 16 reads, the last of which is one too many');
  t.equal(quota.isWaiting(readers[20] ?? { continueReading: () => undefined }), true);
  quota.leave(readers[20] ?? { continueReading: () => undefined });

  await setImmediate();
  t.strictSame(going, [15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);
  await setImmediate();
  t.strictSame(going.slice(16), [32, 33, 34, 35, 36, 37, 38, 39]);
  t.equal(quota.take(64 * kilobytes, { continueReading: () => t.fail('there is room again') }), true);
});

t.test('one reader alone waits as well, in every tick that it exceeds the quota', async (t) => {
  const quota = new ReadQuota();
  let going = 0;
  const reader = { continueReading: () => void going++ };
  for (let turn = 1; turn <= 3; turn++) {
    t.equal(quota.take(1000 * kilobytes, reader), true);
    t.equal(quota.take(64 * kilobytes, reader), false);
    t.equal(quota.isWaiting(reader), true);
    await setImmediate();
    t.equal(going, turn);
    t.equal(quota.isWaiting(reader), false);
  }
});
