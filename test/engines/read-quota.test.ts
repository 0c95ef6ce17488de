/** Tests that large reads share the time of a tick while small reads never wait. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { ReadQuota } from '../../src/engines/http1/read-quota.ts';

const kilobytes = 1024;

/** A quota whose clock only moves by what its reads take. */
const quotaWithClock = () => {
  let now = 0;
  const quota = new ReadQuota(() => now);
  const read = (
    reader: { continueReading(): void },
    milliseconds: number,
    bytes = 64 * kilobytes,
  ): boolean => {
    now += milliseconds;
    return quota.take(bytes, reader);
  };
  return { quota, read };
};

const readersThatNote = (count: number) => {
  const going: number[] = [];
  const readers = Array.from({ length: count }, (_, index) => ({
    continueReading: () => void going.push(index),
  }));
  const at = (index: number): (typeof readers)[0] => {
    const reader = readers[index];
    if (reader === undefined) throw new Error(`There is no reader ${index}.`);
    return reader;
  };
  return { going, readers, at };
};

t.test('small reads are not counted', async (t) => {
  const { read } = quotaWithClock();
  const reader = { continueReading: () => t.fail('it never waited') };
  for (let n = 0; n < 1000; n++) t.equal(read(reader, 0.1, 500), true);
  await setImmediate();
});

t.test('past the time of a tick readers wait, and continue in order, some per tick', async (t) => {
  const { quota, read } = quotaWithClock();
  const { going, readers, at } = readersThatNote(10);
  const allowed = readers.map((reader) => read(reader, 0.2));
  t.equal(allowed.filter(Boolean).length, 3, 'the first, and two in the half millisecond after it');
  t.equal(quota.isWaiting(at(5)), true);
  quota.leave(at(5));

  await setImmediate();
  t.strictSame(going, [3, 4, 6], 'as many as there was time for');
  for (const index of going) t.equal(read(at(index), 0.2), index !== 6);
  await setImmediate();
  t.strictSame(going.slice(3), [7, 8]);
  await setImmediate();
  await setImmediate();
  t.strictSame(going.slice(5), [9, 6], 'one that has read goes behind those that wait');
  t.equal(read({ continueReading: () => t.fail('there is time again') }, 0), true);
});

t.test('one reader alone waits as well, in every tick that it exceeds the time', async (t) => {
  const { quota, read } = quotaWithClock();
  const { going, at } = readersThatNote(1);
  for (let turn = 1; turn <= 3; turn++) {
    t.equal(read(at(0), 100), true, 'the first of a tick begins its time');
    t.equal(read(at(0), 1), false);
    t.equal(quota.isWaiting(at(0)), true);
    await setImmediate();
    t.equal(going.length, turn);
    t.equal(quota.isWaiting(at(0)), false);
  }
});
