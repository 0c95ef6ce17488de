/** `npm run bench`: runs the plan, prints the tables, writes JSON and charts; exit code 1 when a bound is not met. */
import { execFileSync } from 'node:child_process';
import { orEnd } from '../test/command-line.ts';
import { Progress } from '../test/progress.ts';
import { judge } from './bounds.ts';
import { buildMicro } from './build.ts';
import { charts, drawCharts } from './charts/draw.ts';
import { chosenRows, chosenScenarios, routesPlan } from './choose.ts';
import { describeMachine } from './measure.ts';
import { type Options, readOptions, usage } from './options.ts';
import { install } from './peers/install.ts';
import { profileAll, profileRoutes } from './profile.ts';
import { boundsTable, routesTable, scenarioTable } from './report.ts';
import { boundsOf, describe, type ResultFile, readResult, scaleOf, writeResult } from './result-file.ts';
import { Results } from './results.ts';
import { runRoutes } from './routes/run.ts';
import { run } from './run.ts';
import { scaledPeers } from './scale/plan.ts';
import { scaleReport } from './scale/report.ts';
import { runScale } from './scale/run.ts';
import { profileServices, runServices, serviceScenarios, serviceSubjects } from './services/run.ts';
import type { SubjectRow } from './subjects.ts';

interface Prepared {
  readonly rows: readonly SubjectRow[];
  readonly missing: Readonly<Record<string, string>>;
}

/** Installs peers and builds Sluice; a peer that cannot be had is named and left out. */
const prepare = async (rows: readonly SubjectRow[], progress: Progress): Promise<Prepared> => {
  const missing: Record<string, string> = {};
  for (const row of rows) {
    progress.begin(`installing ${row.name}`);
    const reason = await install(row);
    if (reason === undefined) continue;
    missing[row.name] = reason;
    progress.say(`${row.name} is left out: ${reason}`);
  }
  const there = rows.filter(({ name }) => missing[name] === undefined);
  if (there.some((row) => row.command?.includes('{root}/bin/sluice.mjs'))) {
    progress.begin('building Sluice');
    execFileSync(process.execPath, ['bin/build-if-stale.mjs'], { stdio: ['ignore', 2, 2] });
  }
  return { rows: there, missing };
};

/** Every part of the run that was selected, one after the other. */
const measureAll = async (
  options: Options,
  rows: readonly SubjectRow[],
  progress: Progress,
): Promise<{ results: Results; routes: Results }> => {
  const { full, rounds } = options;
  const sluice = rows.find((row) => row.name === 'sluice');
  const scenarios = chosenScenarios(options);
  const parts: Results[] = [];
  if (scenarios.length > 0) parts.push(await run({ rows, scenarios, rounds, full, progress }));
  const plan = routesPlan(options, rows, progress);
  const routes = plan === undefined ? new Results() : await runRoutes(plan);
  if (options.services && sluice !== undefined)
    parts.push(await runServices({ sluice, full, rounds, progress }));
  if (options.scale && sluice !== undefined) {
    const scaled = rows.filter((row) => row.peer !== true || scaledPeers.includes(row.name));
    parts.push(await runScale({ rows: scaled, sluice, progress }));
  }
  return { results: new Results(parts.flatMap(({ measurements }) => measurements)), routes };
};

const measure = async (options: Options): Promise<boolean> => {
  const chosen = chosenRows(options);
  const machine = describeMachine();
  const progress = new Progress();
  const startedAt = new Date();
  const { rows, missing } = await prepare(chosen, progress);
  const { results, routes } = await measureAll(options, rows, progress);
  progress.end();
  const verdicts = judge(results);
  const result: ResultFile = {
    started: startedAt.toISOString(),
    minutes: (Date.now() - startedAt.getTime()) / 60_000,
    machine,
    options,
    subjects: rows.map(describe),
    missing,
    measurements: results.measurements,
    routes: routes.measurements.map(({ scenario, ...rest }) => ({ route: scenario, ...rest })),
    scale: scaleOf(results.measurements, Number(machine.cores)),
    bounds: boundsOf(verdicts),
  };
  const names = [...rows.map((row) => row.name), ...serviceSubjects];
  const { points, bends, throughput } = result.scale;
  const described = Object.entries(machine).map(([name, value]) => `${name} ${value}`);
  const sections = [
    `${result.started}, ${described.join(', ')}; ${options.rounds} rounds in ${result.minutes.toFixed(1)} minutes; medians`,
    ...chosenScenarios(options).map((scenario) => scenarioTable(scenario, names, results)),
    routesTable(routes),
    ...serviceScenarios(options.full).map((scenario) => scenarioTable(scenario, names, results)),
    scaleReport(points, bends, throughput),
    boundsTable(verdicts),
  ];
  process.stdout.write(`\n${sections.filter((part) => part !== '').join('\n\n')}\n`);
  progress.say(`results written to ${writeResult(result)}`);
  if (options.charts) for (const file of await drawCharts(charts, result)) progress.say(`drawn: ${file}`);

  const ours = new Set(['sluice', ...serviceSubjects]);
  const faulty = [...results.measurements, ...routes.measurements]
    .filter(({ subject, errors }) => ours.has(subject) && Object.keys(errors).length > 0)
    .map(({ scenario }) => scenario);
  if (faulty.length > 0) progress.say(`errors in ${[...new Set(faulty)].join(', ')}`);
  return faulty.length === 0 && verdicts.every((verdict) => verdict.met !== false);
};

const profile = async (options: Options): Promise<void> => {
  const progress = new Progress();
  const chosen = chosenRows(options).filter((row) => row.command !== undefined);
  const { rows } = await prepare(chosen, progress);
  await profileAll(rows, chosenScenarios(options), progress);
  const plan = routesPlan(options, rows, progress);
  if (plan !== undefined) await profileRoutes(plan);
  const sluice = rows.find((row) => row.name === 'sluice');
  if (options.services && sluice !== undefined)
    await profileServices({ sluice, full: options.full, rounds: 1, progress });
  progress.end();
};

const options = orEnd('npm run bench', () => {
  const read = readOptions(process.argv.slice(2));
  chosenRows(read);
  chosenScenarios(read);
  return read;
});
if (options.help) process.stdout.write(usage);
else if (options.micro) execFileSync(process.execPath, [buildMicro(), ...options.only], { stdio: 'inherit' });
else if (options.files.length > 0) {
  for (const file of options.files)
    for (const drawn of await drawCharts(charts, readResult(file))) process.stdout.write(`${drawn}\n`);
} else if (options.profile) await profile(options);
else process.exitCode = (await measure(options)) ? 0 : 1;
