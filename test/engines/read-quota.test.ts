/** Large reads take turns; small ones never wait. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { ReadQuota } from '../../src/engines/http1/read-quota.ts';

const kilobytes = 1024;

t.test('small reads are not counted', async (t) => {
  const share = new ReadQuota();
  const reader = { goOn: () => t.fail('it never waited') };
  for (let n = 0; n < 1000; n++) t.equal(share.take(8 * kilobytes, reader), true);
  await setImmediate();
});

t.test('past a turn’s share readers wait, and go on in the order they came, some a turn', async (t) => {
  const share = new ReadQuota();
  const going: number[] = [];
  const readers = Array.from({ length: 40 }, (_, index) => ({ goOn: () => void going.push(index) }));
  const allowed = readers.map((reader) => share.take(64 * kilobytes, reader));
  t.equal(allowed.filter(Boolean).length, 15, 'a megabyte is 16 reads, the last of which is one too many');
  t.equal(share.isWaiting(readers[20] ?? { goOn: () => undefined }), true);
  share.leave(readers[20] ?? { goOn: () => undefined });

  await setImmediate();
  t.strictSame(going, [15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);
  await setImmediate();
  t.strictSame(going.slice(16), [32, 33, 34, 35, 36, 37, 38, 39]);
  t.equal(share.take(64 * kilobytes, { goOn: () => t.fail('there is room again') }), true);
});

t.test('one reader alone waits as well, in every turn that it goes over', async (t) => {
  const share = new ReadQuota();
  let going = 0;
  const reader = { goOn: () => void going++ };
  for (let turn = 1; turn <= 3; turn++) {
    t.equal(share.take(1000 * kilobytes, reader), true);
    t.equal(share.take(64 * kilobytes, reader), false);
    t.equal(share.isWaiting(reader), true);
    await setImmediate();
    t.equal(going, turn);
    t.equal(share.isWaiting(reader), false);
  }
});
