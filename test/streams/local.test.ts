/** Tests the Streams port in one process: the contract, files on disk, bounds of all logs together. */
import { readdirSync } from 'node:fs';
import t from 'tap';
import { LocalStreams, type LocalStreamsOptions } from '../../src/adapters/streams/local.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { streamsContract } from '../contracts/streams.ts';
import { eventually } from '../eventually.ts';

const kibibyte = 1024;
const limits = {
  streamBytes: 512 * kibibyte,
  allBytes: 8192 * kibibyte,
  memoryBytes: 4096 * kibibyte,
  spillBytes: 64 * kibibyte,
};

const open = (folder: string, change: Partial<LocalStreamsOptions> = {}): LocalStreams =>
  new LocalStreams({ folder, mostGraceMs: 60_000, limits, sweepMs: 50, ...change });

const source = () => ({
  paused: false,
  pause() {
    this.paused = true;
  },
  resume() {
    this.paused = false;
  },
  cancel: () => {},
  fail: () => {},
  live: () => {
    throw new Error('no request');
  },
});

const stream = (id: string, subscription = 'sub_1', graceMs = 60_000) => ({
  id,
  subscription,
  graceMs,
  source: source(),
});

const event = (number: number, size: number): string => `id: ${number}\ndata: ${'y'.repeat(size)}\n\n`;

for (const [name, spillBytes] of Object.entries({ 'in memory': 64 * kibibyte, 'on disk': 0 }))
  t.test(`contract, ${name}`, async (t) => {
    const streams = open(t.testdir(), { limits: { ...limits, spillBytes } });
    t.teardown(() => streams.close());
    await streamsContract(t, { writer: streams, reader: streams, streamBytes: limits.streamBytes });
  });

t.test('a large log is on disk, in a file without a name, and its blocks are reused', async (t) => {
  const folder = t.testdir();
  const streams = open(folder);
  t.teardown(() => streams.close());
  const rounds = async (name: string): Promise<number> => {
    const log = streams.open(stream(name));
    await log.publish();
    let whole = '';
    for (let number = 0; number < 24; number++) {
      const text = event(number, 8 * kibibyte);
      whole += text;
      log.append(text, 1);
    }
    log.end();
    await eventually(() => streams.stats().memoryBytes < 80 * kibibyte, 'written to disk');
    const { diskBytes } = streams.stats();
    const found = await streams.find(name, 'sub_1');
    let read = '';
    await new Promise<void>((resolve, reject) =>
      found?.read(-1, new Backpressure()).subscribe({
        next: (text) => {
          read += typeof text === 'string' ? text : Buffer.from(text).toString();
        },
        error: reject,
        complete: resolve,
      }),
    );
    t.equal(read, whole);
    await found?.remove();
    t.equal(streams.stats().diskBytes, 0);
    t.equal(streams.stats().memoryBytes, 0);
    return diskBytes;
  };
  const used = await rounds('one');
  t.ok(used >= 128 * kibibyte, `${used} bytes on disk`);
  t.equal(await rounds('two'), used, 'no more than before');
  t.strictSame(readdirSync(folder), [], 'nothing is left behind');
});

t.test('a log that is removed while it is read can be read to its end', async (t) => {
  const streams = open(t.testdir(), { limits: { ...limits, spillBytes: 0 } });
  t.teardown(() => streams.close());
  const log = streams.open(stream('one'));
  await log.publish();
  let whole = '';
  for (let number = 0; number < 12; number++) {
    const text = event(number, 16 * kibibyte);
    whole += text;
    log.append(text, 1);
  }
  log.end();
  await eventually(() => streams.stats().diskBytes > 0, 'on disk');
  const backpressure = new Backpressure();
  let read = '';
  let done = false;
  const found = await streams.find('one', 'sub_1');
  found?.read(-1, backpressure).subscribe({
    next: (text) => {
      read += typeof text === 'string' ? text : Buffer.from(text).toString();
      backpressure.pause();
    },
    complete: () => {
      done = true;
    },
  });
  await found?.remove();
  const other = streams.open(stream('two'));
  other.append(event(0, 100 * kibibyte), 1);
  await eventually(() => {
    backpressure.resume();
    return done;
  }, 'read');
  t.equal(read, whole);
  other.discard();
  // A write to the disk that has begun is completed first.
  await eventually(() => streams.stats().memoryBytes + streams.stats().diskBytes === 0, 'nothing is kept');
});

t.test('all logs together are bounded, and one subscription cannot take all of it', async (t) => {
  const streams = open(t.testdir(), { limits: { ...limits, allBytes: 1024 * kibibyte } });
  t.teardown(() => streams.close());
  const greedy = stream('one', 'greedy');
  const log = streams.open(greedy);
  await log.publish();
  let written = 0;
  for (let number = 0; !greedy.source.paused && number < 1000; number++) {
    log.append(event(number, 8 * kibibyte), 1);
    written++;
  }
  t.ok(written < 40, `paused after ${written} of 8 KiB: a quarter of 1 MiB`);
  t.throws(() => streams.open(stream('two', 'greedy')), {
    message: 'There is no room for another resumable stream: retry later, or without it',
    status: 503,
  });
  t.equal(streams.stats().refused, 1);
  const other = streams.open(stream('three', 'modest'));
  other.append(event(0, 100), 1);
  other.discard();

  log.read(new Backpressure()).subscribe();
  await eventually(() => !greedy.source.paused, 'what is read makes room');
  const found = await streams.find('one', 'greedy');
  t.ok((found?.first ?? 0) > 0, 'by a cut');
});

t.test('while memory is short, logs go to disk early, and beyond it their sources wait', async (t) => {
  const streams = open(t.testdir(), {
    limits: { ...limits, memoryBytes: 256 * kibibyte, spillBytes: 8192 * kibibyte },
  });
  t.teardown(() => streams.close());
  const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => stream(name, name));
  const logs = all.map((each) => streams.open(each));
  for (const log of logs) await log.publish();
  for (let number = 0; number < 60; number++) {
    for (const [index, log] of logs.entries())
      if (all[index]?.source.paused === false) log.append(event(number, 4 * kibibyte), 1);
    // Twice the limit, and a block that each of them began before it was paused.
    t.ok(streams.stats().memoryBytes < 640 * kibibyte, 'bounded');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await eventually(() => streams.stats().diskBytes > 0, 'on disk');
  await eventually(() => streams.stats().memoryBytes <= 256 * kibibyte, 'no longer short');
});

t.test('events that were read can be read again, however short memory is', async (t) => {
  const streams = open(t.testdir(), {
    limits: { ...limits, memoryBytes: 32 * kibibyte, spillBytes: 8192 * kibibyte },
  });
  t.teardown(() => streams.close());
  const opened = stream('one');
  const log = streams.open(opened);
  await log.publish();
  log.read(new Backpressure()).subscribe();
  let most = 0;
  for (let number = 0; number < 60; number++) {
    log.append(event(number, 4 * kibibyte), 1);
    most = Math.max(most, streams.stats().memoryBytes);
    await eventually(() => !opened.source.paused, 'written to disk');
  }
  t.ok(streams.stats().paused > 0, 'its source had to wait');
  t.ok(most < 128 * kibibyte, `${most} bytes in memory`);
  const found = await streams.find('one', 'sub_1');
  t.strictSame([found?.first, found?.isDone(59)], [0, false]);
});
