/** Tests the life cycle of jobs on either store. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { openRedisState } from '../../src/adapters/state/redis.ts';
import { fail } from '../../src/errors.ts';
import { eventually } from '../eventually.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import {
  type HarnessOptions,
  type JobHarness,
  musicJob,
  owner,
  startHarness,
  statusIs,
  underWay,
  videoJob,
} from './harness.ts';

const missing = { kind: 'not_found', message: /^There is no (video|music) job / };

const suite = (t: Test, open: (t: Test, options?: HarnessOptions) => Promise<JobHarness>): void => {
  t.test('a job waits, renders, completes, is charged once and notified once', async (t) => {
    const harness = await open(t);
    const job = videoJob();
    const created = await harness.jobs.create(job);
    t.match(created, {
      queuePosition: 0,
      progress: 0,
      job: { id: job.id, status: 'pending', started: null },
    });
    const render = await underWay(harness, job);
    t.match(await harness.jobs.get('video', job.id, owner), {
      queuePosition: undefined,
      progress: 0,
      job: { status: 'in_progress', attempts: 1 },
    });
    harness.clock.now += 9_000;
    t.equal(
      (await harness.jobs.get('video', job.id, owner)).progress,
      50,
      'estimated from the expected time',
    );
    harness.clock.now += 90_000;
    t.equal((await harness.jobs.get('video', job.id, owner)).progress, 95, 'an estimate never says 100');
    render.progress(0.255);
    t.equal(
      (await harness.jobs.get('video', job.id, owner)).progress,
      25,
      'what the renderer says counts more',
    );
    render.finish();
    const view = await statusIs(harness, job, 'completed');
    await eventually(() => harness.charges.length > 0, 'charged');
    t.match(view, {
      progress: 100,
      job: {
        ended: harness.clock.now,
        expires: harness.clock.now + 3_600_000,
        cost: '0.12',
        outputs: [{ index: 0, media_type: 'video/mp4', duration: 6, width: 1344, height: 768 }],
      },
    });
    const [output] = view.job.outputs;
    t.strictSame(await harness.blobs.stat(output?.blob ?? ''), {
      mediaType: 'video/mp4',
      size: output?.size_bytes,
    });
    t.match(harness.charges, [
      {
        id: `usage_${job.id}`,
        subscription: owner,
        key: 'key_1',
        route: '/videos',
        model: 'test/video',
        outcome: 'completed',
        cost: '0.12',
        quantities: { seconds: '6' },
        time: harness.clock.now,
      },
    ]);
    await eventually(() => harness.notified.length > 0, 'notified');
    t.strictSame(harness.notified, [`${job.id}-completed`]);
  });

  t.test('FIFO per model, as many at once as there are slots, models in parallel', async (t) => {
    const harness = await open(t, { slots: 2 });
    const jobs = Array.from({ length: 5 }, () => videoJob());
    for (const job of jobs) await harness.jobs.create(job);
    const song = musicJob();
    await harness.jobs.create(song);
    await eventually(() => harness.renderer.renders.length === 3, 'three render');
    t.strictSame(
      harness.renderer.renders.map(({ jobId }) => jobId).sort(),
      [jobs[0]?.id, jobs[1]?.id, song.id].sort(),
    );
    const positions = [];
    for (const { id } of jobs) positions.push((await harness.jobs.get('video', id, owner)).queuePosition);
    t.strictSame(positions, [undefined, undefined, 0, 1, 2]);
    harness.renderer.renders[0]?.finish();
    await eventually(() => harness.renderer.of(jobs[2]?.id ?? ''), 'the next');
    t.equal(harness.renderer.of(jobs[3]?.id ?? ''), undefined);
    const page = await harness.jobs.list('video', owner, { limit: 3, order: 'desc' });
    t.strictSame(
      page.map(({ job }) => job.id),
      jobs
        .slice(2)
        .map(({ id }) => id)
        .reverse(),
    );
    t.strictSame(await harness.jobs.list('video', 'sub_other', { limit: 3, order: 'desc' }), []);
  });

  t.test('models are served round-robin when a worker has few slots', async (t) => {
    const harness = await open(t, { renders: 0, slots: 4 });
    const jobs = [videoJob(), videoJob(), videoJob(), videoJob(), musicJob(), musicJob(), musicJob()];
    for (const job of jobs) await harness.jobs.create(job);
    const { renderer } = harness.another({ renders: 1 });
    for (let count = 1; count <= jobs.length; count++) {
      await eventually(() => renderer.renders.length === count, `render ${count}`);
      renderer.renders.at(-1)?.finish();
    }
    const order = renderer.renders.map(({ call }) => call.type);
    for (let index = 1; index < 6; index++) t.not(order[index], order[index - 1], order.join());
  });

  t.test('a failed render has an error, costs nothing and is notified', async (t) => {
    const harness = await open(t, { slots: 4 });
    const failing = async (crash: (render: Awaited<ReturnType<typeof underWay>>) => void) => {
      const job = videoJob();
      await harness.jobs.create(job);
      crash(await underWay(harness, job));
      const { job: record } = await statusIs(harness, job, 'failed');
      return [record.error_code, record.error];
    };
    t.strictSame(await failing((render) => render.fail('content_policy', 'Not this.\n at line 3')), [
      'content_policy',
      'Not this.',
    ]);
    t.strictSame(await failing((render) => render.crash(new TypeError('x of undefined'))), [
      'internal_error',
      'The render failed for an internal reason',
    ]);
    t.strictSame(await failing((render) => render.end()), [
      'render_failed',
      'The engine gave 0 of 1 outputs',
    ]);
    await eventually(() => harness.notified.length === 3, 'notified');
    t.strictSame(harness.charges, []);
  });

  t.test('a render that takes too long fails', async (t) => {
    const harness = await open(t, { longestMs: 30 });
    const job = videoJob();
    await harness.jobs.create(job);
    const { job: record } = await statusIs(harness, job, 'failed');
    t.equal(record.error_code, 'timeout');
    t.equal(harness.renderer.of(job.id)?.stopped, true);
  });

  t.test('a model that is no longer served fails its jobs', async (t) => {
    const harness = await open(t);
    const job = videoJob();
    await harness.jobs.create({ ...job, model: { ...job.model, id: 'test/gone' } });
    const { job: record } = await statusIs(harness, job, 'failed');
    t.strictSame([record.error_code, record.error], ['engine_unavailable', 'test/gone is no longer served']);
  });

  t.test('DELETE in every state', async (t) => {
    const harness = await open(t);
    const [rendering, waiting] = [videoJob(), videoJob()];
    await harness.jobs.create(rendering);
    const render = await underWay(harness, rendering);
    await harness.jobs.create(waiting);

    t.match(await harness.jobs.remove('video', waiting.id, owner), {
      job: { status: 'cancelled', outputs: [] },
    });
    t.match(await harness.jobs.remove('video', rendering.id, owner), { job: { status: 'cancelled' } });
    t.equal(render.stopped, true, 'in process at once');
    await eventually(() => harness.notified.length === 2, 'both notified');
    t.equal(await harness.jobs.remove('video', waiting.id, owner), 'deleted');
    await t.rejects(harness.jobs.remove('video', waiting.id, owner), missing);

    const done = videoJob();
    await harness.jobs.create(done);
    (await underWay(harness, done)).finish();
    const { job: record } = await statusIs(harness, done, 'completed');
    await t.rejects(harness.jobs.remove('video', done.id, 'sub_other'), missing);
    await t.rejects(harness.jobs.remove('music', done.id, owner), missing);
    t.equal(await harness.jobs.remove('video', done.id, owner), 'deleted');
    t.equal(await harness.blobs.stat(record.outputs[0]?.blob ?? ''), undefined);
    await t.rejects(harness.jobs.get('video', done.id, owner), missing);
    t.strictSame(harness.notified, [
      `${waiting.id}-cancelled`,
      `${rendering.id}-cancelled`,
      `${done.id}-completed`,
    ]);
    t.strictSame(
      harness.charges.map(({ id }) => id),
      [`usage_${done.id}`],
    );
    await t.rejects(harness.jobs.get('video', 'video_1', owner), missing);
  });

  t.test('a job that changes during DELETE gives 409, which is not retryable', async (t) => {
    const harness = await open(t, { renders: 0 });
    const job = videoJob();
    await harness.jobs.create(job);
    // It is read as pending; then it starts, before the cancelling move arrives.
    const { update } = harness.state;
    harness.state.update = async (kind, id, version, change) => {
      if (JSON.stringify(change.value).includes('"status":"cancelled"')) {
        harness.state.update = update;
        await underWay(harness.another({ renders: 1 }), job);
      }
      return update(kind, id, version, change);
    };
    await t.rejects(harness.jobs.remove('video', job.id, owner), {
      kind: 'conflict',
      message: `${job.id} changed its state meanwhile: read it again before you retry`,
      headers: { 'x-should-retry': 'false' },
    });
    t.equal((await harness.jobs.get('video', job.id, owner)).job.status, 'in_progress');
    t.match(await harness.jobs.remove('video', job.id, owner), { job: { status: 'cancelled' } });
  });

  t.test('a worker without heartbeat loses its job; its late results change nothing', async (t) => {
    const harness = await open(t, { renders: 0 });
    // It gives no signs of life, but lives.
    const silent = harness.another({ renders: 1, heartbeatMs: 3_600_000 });
    const job = videoJob();
    await harness.jobs.create(job);
    const zombie = await underWay(silent, job);
    harness.clock.now += 14_999;
    const healthy = harness.another({ renders: 1, pollMs: 10 });
    t.equal(healthy.renderer.of(job.id), undefined, 'not while the lease holds');
    harness.clock.now += 1;
    const render = await underWay(healthy, job);
    zombie.finish();
    render.progress(0.5);
    await eventually(
      async () => (await harness.jobs.get('video', job.id, owner)).progress === 50,
      'progress',
    );
    render.finish();
    const { job: record } = await statusIs(harness, job, 'completed');
    t.match(record, { attempts: 2, lapses: 1, outputs: [{ blob: `video/${job.id}/2-0` }] });
    await eventually(() => harness.notified.length > 0, 'notified');
    t.strictSame(harness.notified, [`${job.id}-completed`]);
    t.equal(harness.charges.length, 1);
    await eventually(async () => {
      return (await harness.blobs.stat(`video/${job.id}/1-0`)) === undefined;
    }, 'what the first one brought is gone');
  });

  t.test('an abandoned job waits while the catalog is unavailable', async (t) => {
    const harness = await open(t, { renders: 0 });
    const silent = harness.another({ renders: 1, heartbeatMs: 3_600_000 });
    const job = videoJob();
    await harness.jobs.create(job);
    await underWay(silent, job);
    harness.clock.now += 15_000;
    const list = { isLost: true, asked: 0 };
    const healthy = harness.another({ renders: 1, list });
    await eventually(() => list.asked > 0, 'asked');
    t.match(await harness.jobs.get('video', job.id, owner), { job: { status: 'in_progress', attempts: 1 } });
    list.isLost = false;
    harness.clock.now += 15_000; // patience after an outage
    (await underWay(healthy, job)).finish();
    t.match(await statusIs(harness, job, 'completed'), { job: { attempts: 2 } });
  });

  t.test('a job that crashes its workers fails after the fourth', async (t) => {
    const harness = await open(t, { renders: 0 });
    const job = videoJob();
    await harness.jobs.create(job);
    for (let death = 0; death < 4; death++) {
      const silent = harness.another({ renders: 1, heartbeatMs: 3_600_000 });
      await underWay(silent, job);
      harness.clock.now += 15_000;
    }
    harness.another({ renders: 1 });
    const { job: record } = await statusIs(harness, job, 'failed');
    t.match(record, { error_code: 'internal_error', error: 'The render was interrupted too often' });
    await eventually(() => harness.notified.length > 0, 'notified');
    t.strictSame(harness.notified, [`${job.id}-failed`]);
    t.strictSame(harness.charges, []);
  });

  t.test('updates whose responses are lost count once', async (t) => {
    const harness = await open(t);
    const { update } = harness.state;
    const lost: string[] = [];
    harness.state.update = async (kind, id, version, change) => {
      const moved = await update(kind, id, version, change);
      const { status } = change.value as { status?: string };
      if (kind !== 'video-job' || status === undefined || lost.includes(status)) return moved;
      lost.push(status);
      throw fail('unavailable', 'The state store is unavailable');
    };
    const { create } = harness.state;
    harness.state.create = async (kind, record) => {
      await create(kind, record);
      if (kind === 'video-job') throw fail('unavailable', 'The state store is unavailable');
      return true;
    };
    const job = videoJob();
    await harness.jobs.create(job);
    harness.state.create = create;
    await eventually(() => lost.length === 1, 'the start is lost');
    t.equal(harness.renderer.renders.length, 0, 'nobody knows that it began');
    harness.clock.now += 15_000; // patience after an outage, and the lease
    harness.clock.now += 15_000;
    (await underWay(harness, job)).finish();
    const { job: record } = await statusIs(harness, job, 'completed');
    t.strictSame(lost, ['in_progress', 'completed']);
    t.equal(record.attempts, 2);
    await eventually(() => harness.notified.length > 0, 'notified');
    t.strictSame(harness.notified, [`${job.id}-completed`]);
    t.equal(harness.charges.length, 1);
    t.match(await harness.blobs.stat(record.outputs[0]?.blob ?? ''), { mediaType: 'video/mp4' });
  });

  t.test('settlement that fails is retried', async (t) => {
    const harness = await open(t);
    const refusals = { left: 3 };
    harness.refuseCharges(refusals);
    const job = videoJob();
    await harness.jobs.create(job);
    (await underWay(harness, job)).finish();
    await statusIs(harness, job, 'completed');
    t.strictSame([harness.charges, harness.notified], [[], []]);
    await t.rejects(harness.jobs.remove('video', job.id, owner), { message: 'No room for usage' });
    harness.clock.now += 10_000;
    await eventually(() => harness.notified.length > 0, 'notified');
    t.strictSame(harness.notified, [`${job.id}-completed`]);
    t.equal(harness.charges.length, 1);
    t.equal(refusals.left, 0);
    t.equal(await harness.jobs.remove('video', job.id, owner), 'deleted');
  });

  t.test('outputs expire: deleted and notified, and the record stays', async (t) => {
    const harness = await open(t);
    const job = videoJob();
    await harness.jobs.create(job);
    (await underWay(harness, job)).finish();
    const { job: record } = await statusIs(harness, job, 'completed');
    await eventually(() => harness.notified.length === 1, 'notified');
    harness.clock.now += 3_599_999;
    t.equal((await harness.jobs.get('video', job.id, owner)).job.status, 'completed');
    harness.clock.now += 1;
    const expired = await statusIs(harness, job, 'expired');
    t.equal(expired.progress, 100);
    await eventually(() => harness.notified.length === 2, 'notified');
    t.strictSame(harness.notified, [`${job.id}-completed`, `${job.id}-expired`]);
    t.equal(await harness.blobs.stat(record.outputs[0]?.blob ?? ''), undefined);
    t.equal(harness.charges.length, 1);
    harness.clock.now += 30 * 86_400_000 - 60_000;
    t.equal((await harness.jobs.get('video', job.id, owner)).job.status, 'expired');
    harness.clock.now += 60_000;
    await eventually(
      () =>
        harness.jobs.get('video', job.id, owner).then(
          () => false,
          () => true,
        ),
      'forgotten',
    );
    await t.rejects(harness.jobs.get('video', job.id, owner), missing);
  });

  t.test('inputs are deleted when the job ends', async (t) => {
    const harness = await open(t);
    await harness.blobs.put('inputs/a', Buffer.from('x'), { mediaType: 'image/png' });
    const job = videoJob();
    const input = { kind: 'image', use: 'reference', blob: 'inputs/a', mediaType: 'image/png' } as const;
    await harness.jobs.create({ ...job, call: { ...job.call, inputs: [input] } as never });
    (await underWay(harness, job)).finish();
    await eventually(async () => (await harness.blobs.stat('inputs/a')) === undefined, 'gone');
    t.equal((await statusIs(harness, job, 'completed')).progress, 100);
  });
};

t.test('SQLite', async (t) => suite(t, startHarness));

t.test('Redis', { skip: redisMissing() ?? false }, async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  suite(t, async (t, options = {}) => {
    const state = openRedisState(redis.url, { prefix: `test-${randomBytes(6).toString('hex')}:` });
    t.teardown(() => state.close());
    return startHarness(t, { ...options, state });
  });
});
