/** Tests parts of the bench: options, progress, bounds, the scale curve and peers. */
import t from 'tap';
import { judge } from '../../bench/bounds.ts';
import { chosenRows, chosenScenarios } from '../../bench/choose.ts';
import { readOptions, usage } from '../../bench/options.ts';
import { install } from '../../bench/peers/install.ts';
import { Results } from '../../bench/results.ts';
import { bendsOf, bottleneck, pointsOf, throughputOf } from '../../bench/scale/curve.ts';
import { processCounts } from '../../bench/scale/plan.ts';
import { allRows } from '../../bench/subjects.ts';
import { Progress } from '../progress.ts';
import { sampleResult } from './sample-result.ts';

const names = (args: string[]): string[] => chosenRows(readOptions(args)).map(({ name }) => name);
const ours = ['direct', 'floor', 'sluice'];
const peers = ['nginx', 'vllm-router', 'smg', 'portkey', 'litellm'];

t.test('peers run only when they are selected, several or all of them', async (t) => {
  t.same(names([]), ours);
  t.same(names(['--peer', 'smg', '--peer', 'nginx']), [...ours, 'nginx', 'smg']);
  t.same(names(['--peer', 'all']), [...ours, ...peers]);
  t.same(names(['--all']), [...ours, ...peers]);
  t.throws(() => names(['--peer', 'envoy']), /no such subject: envoy; peers are nginx, vllm-router/);
  for (const peer of peers) t.ok(usage.includes(peer), `the help names ${peer}`);
});

t.test('every peer is pinned to an exact version, or a program of the machine', async (t) => {
  for (const row of allRows().filter(({ peer }) => peer === true)) {
    const versions = Object.values(row.install?.packages ?? {});
    t.ok(versions.length > 0 || row.program !== undefined, row.name);
    for (const version of versions) t.match(version, /^\d+(\.\d+)+$/, row.name);
  }
});

t.test('a peer that cannot be had has a reason', async (t) => {
  const program = 'no-such-program-of-the-bench';
  t.equal(await install({ name: 'none', program }), `no ${program} on PATH`);
  t.equal(await install({ name: 'none' }), undefined);
});

t.test('the options select parts of the run', async (t) => {
  const parts = (args: string[]): unknown => {
    const { scenarios, services, scale, charts } = readOptions(args);
    return { scenarios, services, scale, charts };
  };
  t.same(parts([]), { scenarios: true, services: false, scale: false, charts: false });
  t.same(parts(['--scale']), { scenarios: false, services: false, scale: true, charts: false });
  t.same(parts(['--services']), { scenarios: false, services: true, scale: false, charts: false });
  t.same(parts(['--all']), { scenarios: true, services: true, scale: true, charts: true });
  t.same(readOptions(['--charts', 'a.json']).files, ['a.json']);
  t.throws(() => readOptions(['a.json']), /unexpected a\.json/);
  t.throws(() => readOptions(['--rounds', '0']), /--rounds takes/);
  t.same(
    chosenScenarios(readOptions(['--only', 'cold', '--only', 'routes'])).map(({ name }) => name),
    ['cold'],
  );
  t.throws(() => chosenScenarios(readOptions(['--only', 'hot'])), /no such scenario: hot; available: whole/);
});

t.test('a terminal gets a bar with the time left, other outputs get lines', async (t) => {
  let now = 0;
  const shown = (isTTY: boolean): { text: string[]; progress: Progress } => {
    const text: string[] = [];
    const output = { isTTY, columns: 60, write: (piece: string) => text.push(piece) };
    return { text, progress: new Progress(output, () => now) };
  };
  const terminal = shown(true);
  terminal.progress.plan(100);
  terminal.progress.begin('first');
  t.match(terminal.text.at(-1), /░{24} {3}0 % {2}1:40 left {2}first$/);
  now = 20_000;
  terminal.progress.finish(10, 'first is done');
  // What was planned for 10 seconds took 20, so the rest takes twice as long too.
  t.match(terminal.text.at(-1), /██░{22} {2}10 % {2}3:00 left {2}first$/);
  t.notOk(terminal.text.join('').includes('first is done'));
  terminal.progress.say('nginx is left out');
  t.match(terminal.text.join(''), 'nginx is left out\n');
  terminal.progress.begin('second', 40);
  now = 30_000;
  terminal.progress.note('half of it');
  // Ten of forty seconds have passed: 20 of 100 are done after 30.
  t.match(terminal.text.at(-1), /█{5}░{19} {2}20 % {2}2:00 left {2}half of it$/);
  const drawn = terminal.text.length;
  terminal.progress.finish(1);
  t.equal(terminal.text.length, drawn, 'at most ten times a second');
  terminal.progress.end();

  const pipe = shown(false);
  pipe.progress.plan(10);
  pipe.progress.begin('first');
  pipe.progress.finish(10, 'first is done');
  pipe.progress.say('written');
  pipe.progress.end();
  t.same(pipe.text, ['first is done\n', 'written\n']);
});

t.test('bounds against a peer are judged only where it runs', async (t) => {
  const verdict = (results: Results, unit: string, part: string): unknown =>
    judge(results)
      .filter(({ bound }) => bound.unit === unit && bound.measure.includes(part))
      .map(({ value, met }) => ({ value, met }));
  const all = new Results(sampleResult.measurements);
  t.same(verdict(all, '× vllm-router', 'non-streamed'), [{ value: 58 / 83, met: true }]);
  t.same(verdict(all, '× vllm-router', 'paced'), [{ value: 34 / 26, met: false }]);
  t.same(verdict(all, '× vllm-router', '300'), [{ value: 278 / 233, met: false }]);
  t.same(verdict(all, 'MB over floor', 'slow'), [{ value: -6, met: true }]);
  const aim = judge(all).find(({ bound }) => bound.unit === '× vllm-router' && /paced/.test(bound.measure));
  t.equal(aim?.aim, (1 + 16.7 / 26) / 2, 'halfway to nginx');
  const alone = new Results(sampleResult.measurements.filter(({ subject }) => subject !== 'vllm-router'));
  t.same(verdict(alone, '× vllm-router', 'CPU'), [
    { value: undefined, met: undefined },
    { value: undefined, met: undefined },
    { value: undefined, met: undefined },
    { value: undefined, met: undefined },
  ]);
});

t.test('the scale curve has the delay added to the engine, and where it bends', async (t) => {
  const points = pointsOf(sampleResult.measurements);
  const at = (subject: string, streams: number): unknown =>
    points.find((point) => point.subject === subject && point.streams === streams);
  t.match(at('sluice', 200), { delivered: 1, delayP99: 1, addedP99: 0.6, addedP50: 0.1 });
  t.match(at('direct', 200), { cpuPerToken: undefined, addedP50: undefined });
  t.same(
    bendsOf(points, 2).map(({ subject, streams }) => [subject, streams]),
    [
      ['floor', 2000],
      ['sluice', 2000],
      ['nginx', 2000],
      ['vllm-router', 2000],
    ],
  );
  t.match(throughputOf(sampleResult.measurements, 2), [
    { processes: 1, load: 'whole', requestsPerSecond: 9900 },
    { processes: 2, load: 'whole', requestsPerSecond: 10_800, limitedBy: /^all cores are busy \(2\)/ },
  ]);
});

t.test('the bottleneck is named', async (t) => {
  const cores = { gateway: 0.3, engine: 0.2, generator: 0.1, other: 0 };
  t.match(bottleneck(cores, 8), /^no process was busy/);
  t.match(bottleneck({ ...cores, generator: 0.95 }, 8), /^the load generator is the bottleneck/);
  t.match(bottleneck({ ...cores, engine: 0.95 }, 8), /^the engine is the bottleneck/);
  t.match(bottleneck({ ...cores, gateway: 0.95 }, 8), /^the gateway is the bottleneck/);
  t.match(bottleneck({ ...cores, other: 1.3 }, 2), /^all cores are busy \(2\): .*others 1\.30/);
});

t.test('processes double up to the number of cores', async (t) => {
  t.same(processCounts(1), [1]);
  t.same(processCounts(2), [1, 2]);
  t.same(processCounts(6), [1, 2, 4, 6]);
  t.same(processCounts(8), [1, 2, 4, 8]);
});
