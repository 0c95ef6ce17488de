/** Tests the benchmark harness: histograms, knobs in JSON bodies and one short run. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import t from 'tap';
import { judge } from '../../bench/bounds.ts';
import { Histogram } from '../../bench/histogram.ts';
import { readKnobs, writeKnobs } from '../../bench/knobs.ts';
import type { RunResult } from '../../bench/load/window.ts';
import type { Load, Outcome } from '../../bench/load.ts';
import { cpuBetween, sampleCpu } from '../../bench/measure.ts';
import { Results } from '../../bench/results.ts';
import { closeStage, measureOnce, openStage } from '../../bench/stage.ts';
import { allRows, startSubject } from '../../bench/subjects.ts';
import { patiently } from '../eventually.ts';
import { servers } from '../http/servers.ts';
import { onlyLong } from '../long.ts';

t.test('a percentile is within two percent of the sorted value', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.001, max: 100_000, noNaN: true }), { minLength: 1 }),
      (values) => {
        const histogram = new Histogram();
        for (const value of values) histogram.record(value);
        const sorted = values.toSorted((one, other) => one - other);
        for (const share of [0.5, 0.99, 1]) {
          const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
          const off = Math.abs(histogram.percentile(share) - exact);
          if (off > Math.max(0.002, exact * 0.02)) return false;
        }
        return true;
      },
    ),
  );
  t.equal(new Histogram().percentile(0.5), 0);
});

t.test('knobs are read out of a request body and kept in range', async (t) => {
  const knobs = { tokens: 200, rate: 20, size: 12, first: 5, id: 7, stamp: 1 };
  const body = JSON.stringify({ messages: [{ role: 'user', content: `${writeKnobs(knobs)} And then.` }] });
  t.same(readKnobs(body), knobs);
  t.same(readKnobs('/bench tokens=99999999 rate=-1 nonsense=3 size=abc.'), {
    tokens: 64,
    rate: 0,
    size: 0,
    first: 0,
    id: 0,
    stamp: 0,
  });
});

t.test('ratios are paired by round before the median is taken', async (t) => {
  const results = new Results();
  const add = (round: number, subject: string, cost: number): void =>
    results.add({ round, subject, scenario: 'whole', metrics: { cpu_us_per_request: cost }, errors: {} });
  for (const [round, floor, ours] of [
    [1, 10, 14],
    [2, 100, 130],
    [3, 50, 55],
  ] as const) {
    add(round, 'floor', floor);
    add(round, 'sluice', ours);
  }
  const [verdict] = judge(results);
  t.match(verdict, { value: 1.3, met: true, aimMet: false });
});

const linux = process.platform === 'linux';
t.test('CPU time of children is counted once they have ended', { skip: !linux }, async (t) => {
  const before = sampleCpu([process.pid]);
  execFileSync(process.execPath, ['-e', 'while (process.cpuUsage().user < 200_000);'], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  t.ok(cpuBetween(before, sampleCpu([process.pid])) >= 150);
});

const [{ skip }] = servers;
t.test(
  'a run through the floor: every kind of load finds what the engine sent',
  { skip: skip || onlyLong },
  async (t) => {
    const stage = await openStage();
    t.teardown(() => closeStage(stage));
    const row = allRows().find(({ name }) => name === 'floor');
    if (row === undefined) throw new Error('no floor');
    const floor = await startSubject(row, stage.enginePort);
    t.teardown(() => floor.stop());
    const measure = async (load: Load): Promise<RunResult> => {
      const outcome: Outcome = await measureOnce(stage, floor, load);
      if ('failure' in outcome) throw new Error(outcome.failure);
      t.same(outcome.result.errors, {}, `${load.kind} without errors`);
      return outcome.result;
    };
    const short = { warmSeconds: patiently(0.1), windowSeconds: patiently(0.3) };

    const whole = await measure({
      kind: 'closed',
      stream: false,
      knobs: { tokens: 4 },
      clients: 4,
      ...short,
    });
    t.ok((whole.metrics.requests_per_second ?? 0) > 0);
    if (process.platform === 'linux') t.ok((whole.metrics.cpu_us_per_request ?? 0) > 0);

    const fast = await measure({ kind: 'closed', stream: true, knobs: { tokens: 50 }, clients: 4, ...short });
    t.ok((fast.metrics.chunks_per_second ?? 0) > (fast.metrics.requests_per_second ?? 0) * 10);

    const open = await measure({ kind: 'open', stream: false, knobs: {}, perSecond: 100, ...short });
    t.equal(Math.round(open.metrics.requests_per_second ?? 0), 100);

    const cold = await measure({
      kind: 'closed',
      stream: false,
      knobs: { tokens: 4 },
      clients: 4,
      warmSeconds: 0,
      windowSeconds: 0,
      atLeast: 200,
    });
    t.ok((cold.metrics.requests ?? 0) >= 200, 'a window lasts until so many responses are there');

    const paced = await measure({
      kind: 'paced',
      stream: true,
      knobs: { tokens: 1000, rate: 50, stamp: 1 },
      stamped: true,
      streams: 4,
      rampSeconds: 0.1,
      settleSeconds: 0.2,
      windowSeconds: 0.5,
    });
    const {
      delay_p50_ms: delay = 0,
      generator_cores: generator = 0,
      engine_cores: engine = 0,
    } = paced.metrics;
    t.ok(delay > 0 && delay < 5000, 'tokens carry the time they were sent');
    if (linux) t.ok(generator > 0 && engine > 0, 'CPU time of engine and load generator');

    const gone = await measure({ kind: 'disconnect', clients: 10 });
    t.equal(gone.metrics.seen_by_engine, 10);

    await measure({
      kind: 'upload',
      stream: true,
      knobs: { tokens: 1000, rate: 20 },
      streams: 2,
      idleSeconds: 0.2,
      uploadBytes: 3_000_000,
      uploads: 1,
    });
    t.type(await floor.loopDelay(), 'object');
  },
);
