/** `npm run bench`: runs the plan, prints the table, writes the JSON; exit code 1 when a bound is not met. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { judge } from './bounds.ts';
import { buildMicro } from './build.ts';
import { describeMachine } from './measure.ts';
import { type Options, readOptions, usage } from './options.ts';
import { profileAll, profileRoutes } from './profile.ts';
import { boundsTable, routesTable, scenarioTable } from './report.ts';
import { Results } from './results.ts';
import { type RoutesPlan, runRoutes } from './routes/run.ts';
import { run } from './run.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { install, readRows, type SubjectRow } from './subjects.ts';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Entries of the user's file are added; one with an existing name replaces it. */
const chosenRows = (options: Options): SubjectRow[] => {
  const rows = new Map(readRows().map((row) => [row.name, row]));
  const added = options.rows === undefined ? [] : readRows(options.rows);
  for (const row of added) rows.set(row.name, row);
  const unknown = [...options.peers, ...options.subjects].filter((name) => !rows.has(name));
  if (unknown.length > 0) throw new Error(`no such subject: ${unknown.join(', ')}`);
  return [...rows.values()]
    .filter((row) => row.peer !== true || options.peers.includes(row.name) || added.includes(row))
    .filter((row) => options.subjects.length === 0 || options.subjects.includes(row.name));
};

const chosenScenarios = (options: Options): readonly Scenario[] => {
  const all = scenarios(options.full);
  const chosen = all.filter((row) => options.only.length === 0 || options.only.includes(row.name));
  if (chosen.length > 0 || options.only.some(isRoutes)) return chosen;
  throw new Error(`no such scenario; available: ${all.map((row) => row.name).join(', ')}, routes`);
};

const isRoutes = (name: string): boolean => name === 'routes' || name.startsWith('routes/');

/** Undefined when routes, or the gateway that has them, are not selected. */
const routesPlan = (options: Options, rows: readonly SubjectRow[]): RoutesPlan | undefined => {
  const sluice = rows.find((row) => row.name === 'sluice');
  const asked = options.only.filter(isRoutes);
  if (sluice === undefined || (options.only.length > 0 && asked.length === 0)) return undefined;
  const parts = asked.map((name) => name.slice('routes/'.length));
  const isWanted = (name: string): boolean => parts.length === 0 || parts.some((part) => name.includes(part));
  return { sluice, isWanted, full: options.full, rounds: options.rounds, say };
};

const prepare = (rows: readonly SubjectRow[]): void => {
  for (const row of rows) install(row);
  if (rows.some((row) => row.command?.includes('{root}/bin/sluice.mjs'))) {
    execFileSync(process.execPath, ['bin/build-if-stale.mjs'], { stdio: ['ignore', 2, 2] });
  }
};

const measure = async (options: Options): Promise<boolean> => {
  const rows = chosenRows(options);
  const chosen = chosenScenarios(options);
  const machine = describeMachine();
  prepare(rows);
  const startedAt = new Date();
  const results =
    chosen.length === 0
      ? new Results()
      : await run({ rows, scenarios: chosen, rounds: options.rounds, full: options.full, say });
  const plan = routesPlan(options, rows);
  const routes = plan === undefined ? new Results() : await runRoutes(plan);
  const verdicts = judge(results);
  const names = rows.map((row) => row.name);
  const tables = chosen.map((scenario) => scenarioTable(scenario, names, results));
  const described = Object.entries(machine).map(([name, value]) => `${name} ${value}`);
  const minutes = ((Date.now() - startedAt.getTime()) / 60_000).toFixed(1);
  const heading = `${startedAt.toISOString()}, ${described.join(', ')}; ${options.rounds} rounds in ${minutes} minutes; medians`;
  process.stdout.write(
    `\n${[heading, ...tables, routesTable(routes), boundsTable(verdicts)].filter((part) => part !== '').join('\n\n')}\n`,
  );

  const file =
    options.json ?? path.join('bench', 'results', `${startedAt.toISOString().replaceAll(':', '-')}.json`);
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  const written = {
    started: startedAt.toISOString(),
    machine,
    options,
    measurements: results.measurements,
    routes: routes.measurements.map(({ scenario, ...rest }) => ({ route: scenario, ...rest })),
    bounds: verdicts.map(({ bound, value, met, aimMet }) => ({
      measure: bound.measure,
      value,
      unit: bound.unit,
      kind: bound.kind,
      limit: bound.limit,
      aim: bound.aim,
      met,
      aim_met: aimMet,
    })),
  };
  writeFileSync(file, `${JSON.stringify(written, null, 1)}\n`);
  say(`results written to ${file}`);

  const faulty = [...results.measurements, ...routes.measurements]
    .filter(({ subject, errors }) => subject === 'sluice' && Object.keys(errors).length > 0)
    .map(({ scenario }) => scenario);
  if (faulty.length > 0) say(`errors in ${[...new Set(faulty)].join(', ')}`);
  return faulty.length === 0 && verdicts.every((verdict) => verdict.met !== false);
};

const profile = async (options: Options): Promise<void> => {
  const rows = chosenRows(options).filter((row) => row.command !== undefined);
  prepare(rows);
  await profileAll(rows, chosenScenarios(options), say);
  const plan = routesPlan(options, rows);
  if (plan !== undefined) await profileRoutes(plan);
};

const options = readOptions(process.argv.slice(2));
if (options.help) process.stdout.write(usage);
else if (options.micro) execFileSync(process.execPath, [buildMicro(), ...options.only], { stdio: 'inherit' });
else if (options.profile) await profile(options);
else process.exitCode = (await measure(options)) ? 0 : 1;
