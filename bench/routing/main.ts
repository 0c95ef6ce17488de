/** Compares ways to choose a replica: hit rate of the prefix caches, time to first token, imbalance. */
import { execFileSync } from 'node:child_process';
import { LeastBusy } from '../../src/engines/pool/policies/least-busy.ts';
import { PrefixAffinity } from '../../src/engines/pool/policies/prefix.ts';
import { orEnd } from '../../test/command-line.ts';
import { Progress } from '../../test/progress.ts';
import { drawCharts, routingCharts } from '../charts/draw.ts';
import { describeMachine } from '../measure.ts';
import { measureChoice } from './choice-cost.ts';
import { mostCached, StartHash, soonest } from './choosers.ts';
import { slowedClock } from './clock.ts';
import { type Double, startDouble } from './doubles.ts';
import { type Driven, drive, rendered, type Target } from './drive.ts';
import { httpTarget } from './http-target.ts';
import { readOptions, usage } from './options.ts';
import { hashed, usualEngine } from './prefix-engine.ts';
import { printChoice, printRows, type Row } from './report.ts';
import { type RoutingResult, readRouting, writeRouting } from './result-file.ts';
import { driverFigures, engineFigures, type Simulation, simulateOracle, simulatePolicy } from './simulate.ts';
import { subjects } from './subjects.ts';
import { type Workload, workloads } from './workloads.ts';

const values = orEnd('npm run bench:routing', readOptions);
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const { seconds, replicas, slowed } = values;
const clock = slowedClock(slowed);
const seed = 3;
/** Of the machine's clock. */
const rowSeconds = seconds * slowed;
const chosen = workloads.filter(
  ({ name }) => values.workload === undefined || values.workload.includes(name),
);

const simulateAll = (): readonly Row[] =>
  chosen.flatMap((workload) => {
    const simulation: Simulation = { workload, engine: usualEngine, replicas, seconds, seed };
    const prefix = () => new PrefixAffinity();
    const results = {
      'least-busy': simulatePolicy(simulation, () => new LeastBusy()),
      prefix: simulatePolicy(simulation, prefix),
      'prefix, 3 gateways': simulatePolicy(simulation, prefix, 3),
      'hash of 1 KB': simulatePolicy(simulation, () => new StartHash(1024)),
      'hash of 2 KB': simulatePolicy(simulation, () => new StartHash(2048)),
      'hash of 20 KB': simulatePolicy(simulation, () => new StartHash(20_000)),
      'oracle, most cached': simulateOracle(simulation, mostCached),
      'oracle, soonest': simulateOracle(simulation, soonest),
    };
    return Object.entries(results).map(([subject, figures]) => ({
      workload: workload.name,
      subject,
      failures: 0,
      ...figures,
    }));
  });

const serveAll = async (): Promise<readonly Row[]> => {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 2, 2] });
  const doubles = await Promise.all(Array.from({ length: replicas }, () => startDouble(clock, usualEngine)));
  const progress = new Progress();
  // The oracle is measured as well.
  progress.plan(chosen.length * (subjects.length + 1) * rowSeconds);
  const rows: Row[] = [];
  for (const workload of chosen) {
    for (const subject of subjects) {
      const missing = await subject.missing();
      if (missing !== undefined) {
        progress.finish(rowSeconds, `${subject.name}: skipped, ${missing}`);
        continue;
      }
      const running = await subject.start(doubles.map(({ port }) => port));
      const target = httpTarget({ portOf: () => running.port, key: running.key });
      rows.push(await measure(workload, subject.name, target, doubles, progress));
      target.close();
      await running.stop();
    }
    rows.push(await measureOracle(workload, doubles, progress));
  }
  progress.end();
  await Promise.all(doubles.map((double) => double.close()));
  return rows;
};

/** The driver itself picks the replica that will be first, with nothing in between. */
const measureOracle = async (
  workload: Workload,
  doubles: readonly Double[],
  progress: Progress,
): Promise<Row> => {
  const target = httpTarget({
    portOf: ({ messages }) => {
      const engines = doubles.map(({ engine }) => engine);
      return doubles[soonest(engines, hashed(rendered(messages), usualEngine))]?.port ?? 0;
    },
  });
  const row = await measure(workload, 'oracle', target, doubles, progress);
  target.close();
  return row;
};

const measure = async (
  workload: Workload,
  subject: string,
  target: Target,
  doubles: readonly Double[],
  progress: Progress,
): Promise<Row> => {
  progress.begin(`${workload.name}: ${subject}`, rowSeconds);
  for (const double of doubles) double.reset();
  const driven = await new Promise<Driven>((done) => drive(workload, target, { clock, seconds, seed, done }));
  if (driven.error !== undefined) progress.say(`${subject}: ${driven.error.message}`);
  const row = {
    workload: workload.name,
    subject,
    failures: driven.failures,
    ...engineFigures(doubles.map(({ engine }) => engine)),
    ...driverFigures(driven),
  };
  progress.finish(rowSeconds);
  progress.say(JSON.stringify(row));
  return row;
};

const run = async (): Promise<RoutingResult> => {
  const [started, machine] = [new Date().toISOString(), describeMachine()];
  const rows = values.simulate ? simulateAll() : await serveAll();
  printRows(rows);
  const choice = measureChoice();
  printChoice(choice);
  return {
    started,
    machine,
    simulated: values.simulate,
    seconds,
    replicas,
    slowed,
    engine: usualEngine,
    subjects: subjects
      .filter(({ name, version }) => version !== undefined && rows.some(({ subject }) => subject === name))
      .map(({ name, version = '' }) => ({ name: name.replace(/,.*/, ''), what: name, version })),
    rows,
    choice,
  };
};

const draw = async (result: RoutingResult): Promise<void> => {
  for (const file of await drawCharts(routingCharts, result)) console.error(`drawn: ${file}`);
};

if (values.files.length > 0) for (const file of values.files) await draw(readRouting(file));
else {
  const result = await run();
  console.error(`results written to ${writeRouting(result, values.out)}`);
  if (values.charts) await draw(result);
}
