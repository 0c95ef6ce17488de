/** Tests streaming of songs while they render: any process, any pace, ten minutes after the end. */
import type { Observable } from 'rxjs';
import t from 'tap';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { eventually } from '../eventually.ts';
import { type JobHarness, musicJob, owner, startHarness, statusIs, underWay } from './harness.ts';

/** A listener that records what it receives. */
const listener = (source: Observable<Uint8Array>) => {
  const heard = { bytes: 0, digest: '', ended: false, error: undefined as unknown };
  const pieces: Buffer[] = [];
  const subscription = source.subscribe({
    next: (bytes) => {
      heard.bytes += bytes.length;
      pieces.push(Buffer.from(bytes));
    },
    complete: () => {
      heard.ended = true;
    },
    error: (error) => {
      heard.error = error;
    },
  });
  return { heard, all: () => Buffer.concat(pieces), leave: () => subscription.unsubscribe() };
};

const listen = (harness: JobHarness, id: string, output = 0, backpressure = new Backpressure()) =>
  listener(harness.jobs.samples(id, owner, output, backpressure));

const samples = (size: number, first = 0): Buffer => {
  const bytes = Buffer.alloc(size);
  for (let index = 0; index < size; index++) bytes[index] = (first + index) % 251;
  return bytes;
};

t.test('early and late listeners, on any process, get the same song', async (t) => {
  const harness = await startHarness(t);
  const elsewhere = harness.another({ renders: 0 });
  const job = musicJob();
  const busy = musicJob();
  await harness.jobs.create(busy);
  const first = await underWay(harness, busy);
  await harness.jobs.create(job);
  const waiting = listen(harness, job.id);
  first.finish();
  const render = await underWay(harness, job);
  const song = samples(400_000);
  render.samples(song.subarray(0, 100_000));
  await eventually(() => waiting.heard.bytes === 100_000, 'heard');
  const joining = [listen(harness, job.id), listen(elsewhere, job.id)];
  await eventually(() => joining.every(({ heard }) => heard.bytes === 100_000), 'caught up');
  render.samples(song.subarray(100_000));
  render.finish();
  await statusIs(harness, job, 'completed');
  const late = [listen(harness, job.id), listen(elsewhere, job.id)];
  for (const each of [waiting, ...joining, ...late]) {
    await eventually(() => each.heard.ended, 'the end');
    t.ok(each.all().equals(song));
  }
});

t.test('each listener has its own pace, and none holds up the render', async (t) => {
  const harness = await startHarness(t);
  const job = musicJob();
  await harness.jobs.create(job);
  const render = await underWay(harness, job);
  const slow = new Backpressure();
  slow.pause();
  const [held, free] = [listen(harness, job.id, 0, slow), listen(harness, job.id)];
  const song = samples(3_000_000);
  for (let at = 0; at < song.length; at += 30_000) render.samples(song.subarray(at, at + 30_000));
  render.finish();
  await eventually(() => free.heard.ended, 'all heard');
  t.ok(free.all().equals(song));
  t.ok(held.heard.bytes <= 256 * 1024, 'at most a piece is on its way');
  slow.resume();
  await eventually(() => held.heard.ended, 'all heard');
  t.ok(held.all().equals(song));
});

t.test('songs of one request are streamed separately', async (t) => {
  const harness = await startHarness(t);
  const job = musicJob({}, { n: 2 });
  await harness.jobs.create(job);
  const render = await underWay(harness, job);
  render.samples(Buffer.from('first'), 0);
  render.samples(Buffer.from('second'), 1);
  render.finish();
  await statusIs(harness, job, 'completed');
  const songs = [listen(harness, job.id, 0), listen(harness, job.id, 1)];
  await eventually(() => songs.every(({ heard }) => heard.ended), 'heard');
  t.strictSame(
    songs.map(({ all }) => all().toString()),
    ['first', 'second'],
  );
  t.match(listen(harness, job.id, 2).heard, { bytes: 0 });
  const none = listen(harness, job.id, 2);
  await eventually(() => none.heard.error, 'refused');
  t.match(none.heard.error, { kind: 'not_found', message: `${job.id} has no output 2` });
});

t.test('songs that cannot be streamed give an error', async (t) => {
  const harness = await startHarness(t);
  const refused = async (id: string) => {
    const { heard } = listen(harness, id);
    const { kind } = (await eventually(() => heard.error, 'refused')) as { kind: string };
    return kind;
  };
  const silent = musicJob({ progressive: false });
  await harness.jobs.create(silent);
  t.equal(await refused(silent.id), 'conflict', 'the model does not stream');
  (await underWay(harness, silent)).finish();
  await statusIs(harness, silent, 'completed');

  const job = musicJob();
  await harness.jobs.create(job);
  const render = await underWay(harness, job);
  render.samples(samples(1000));
  render.finish();
  await statusIs(harness, job, 'completed');
  await eventually(() => harness.notified.length === 2, 'settled');
  harness.clock.now += 10 * 60_000 - 1;
  const last = listen(harness, job.id);
  await eventually(() => last.heard.ended, 'heard');
  t.equal(last.heard.bytes, 1000);
  harness.clock.now += 1;
  t.equal(await refused(job.id), 'conflict', 'no longer kept');
  await eventually(async () => (await harness.blobs.stat(`samples/${job.id}/1/0/0`)) === undefined, 'gone');
  harness.clock.now += 3_600_000;
  await statusIs(harness, job, 'expired');
  t.equal(await refused(job.id), 'not_found', 'expired');
  t.equal(await refused('music_0123456789abcdef01234567'), 'not_found');

  const cancelled = musicJob();
  const running = musicJob();
  await harness.jobs.create(running);
  await underWay(harness, running);
  await harness.jobs.create(cancelled);
  await harness.jobs.remove('music', cancelled.id, owner);
  t.equal(await refused(cancelled.id), 'conflict', 'there never was a stream');
});

t.test('the stream ends with the song, for whatever reason', async (t) => {
  const harness = await startHarness(t);
  const [broken, cancelled] = [musicJob(), musicJob()];
  await harness.jobs.create(broken);
  const render = await underWay(harness, broken);
  const hearing = listen(harness, broken.id);
  render.samples(samples(100_000));
  await eventually(() => hearing.heard.bytes === 100_000, 'heard');
  render.fail('render_failed', 'no');
  await eventually(() => hearing.heard.ended, 'the end');

  await harness.jobs.create(cancelled);
  const other = await underWay(harness, cancelled);
  const listening = listen(harness, cancelled.id);
  other.samples(samples(100_000));
  await eventually(() => listening.heard.bytes === 100_000, 'heard');
  await harness.jobs.remove('music', cancelled.id, owner);
  await eventually(() => listening.heard.ended, 'the end');
  t.equal(await harness.jobs.remove('music', cancelled.id, owner), 'deleted');
  t.equal(await harness.blobs.stat(`samples/${cancelled.id}/1/0/0`), undefined, 'samples go with the job');
});

t.test('a restarted render drops its listeners; a new one gets the new song', async (t) => {
  const harness = await startHarness(t, { renders: 0 });
  const dying = harness.another({ renders: 1 });
  const job = musicJob();
  await harness.jobs.create(job);
  const render = await underWay(dying, job);
  render.samples(samples(100_000));
  const hearing = listen(harness, job.id);
  await eventually(() => hearing.heard.bytes === 100_000, 'heard');
  await dying.jobs.close();
  const successor = harness.another({ renders: 1 });
  const again = await underWay(successor, job);
  await eventually(() => hearing.heard.error, 'dropped');
  t.match(hearing.heard.error, { kind: 'conflict' });
  again.samples(samples(5_000, 7));
  again.finish();
  const { job: record } = await statusIs(harness, job, 'completed');
  t.equal(record.attempts, 2);
  t.equal(record.lapses, 0, 'given up in good order: nobody died');
  const listening = listen(harness, job.id);
  await eventually(() => listening.heard.ended, 'heard');
  t.ok(listening.all().equals(samples(5_000, 7)));
  t.equal(await harness.blobs.stat(`samples/${job.id}/1/0/0`), undefined, 'what the first one left is gone');
});
