/** Selects subjects, scenarios and routes from the options. */

import type { Progress } from '../test/progress.ts';
import type { Options } from './options.ts';
import type { RoutesPlan } from './routes/run.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { allRows, readRows, type SubjectRow } from './subjects.ts';

/** Entries of the user's file are added; one with an existing name replaces it. */
export const chosenRows = (options: Options): SubjectRow[] => {
  const rows = new Map(allRows().map((row) => [row.name, row]));
  const added = options.rows === undefined ? [] : readRows(options.rows);
  for (const row of added) rows.set(row.name, row);
  const peers = [...rows.values()].filter((row) => row.peer === true).map((row) => row.name);
  const asked = options.peers.flatMap((name) => (name === 'all' ? peers : [name]));
  const unknown = [...asked, ...options.subjects].filter((name) => !rows.has(name));
  if (unknown.length > 0)
    throw new Error(`no such subject: ${unknown.join(', ')}; peers are ${peers.join(', ')}`);
  return [...rows.values()]
    .filter((row) => row.peer !== true || asked.includes(row.name) || added.includes(row))
    .filter((row) => options.subjects.length === 0 || options.subjects.includes(row.name));
};

export const chosenScenarios = (options: Options): readonly Scenario[] => {
  if (!options.scenarios) return [];
  const all = scenarios(options.full);
  const known = all.map((row) => row.name);
  const unknown = options.only.filter((name) => !known.includes(name) && !isRoutes(name));
  if (unknown.length > 0)
    throw new Error(`no such scenario: ${unknown.join(', ')}; available: ${known.join(', ')}, routes`);
  return all.filter((row) => options.only.length === 0 || options.only.includes(row.name));
};

const isRoutes = (name: string): boolean => name === 'routes' || name.startsWith('routes/');

/** Undefined when routes, or the gateway that has them, are not selected. */
export const routesPlan = (
  options: Options,
  rows: readonly SubjectRow[],
  progress: Progress,
): RoutesPlan | undefined => {
  const sluice = rows.find((row) => row.name === 'sluice');
  const asked = options.only.filter(isRoutes);
  if (!options.scenarios || sluice === undefined || (options.only.length > 0 && asked.length === 0))
    return undefined;
  const parts = asked.map((name) => name.slice('routes/'.length));
  const isWanted = (name: string): boolean => parts.length === 0 || parts.some((part) => name.includes(part));
  return { sluice, isWanted, full: options.full, rounds: options.rounds, progress };
};
