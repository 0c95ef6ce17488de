/** The JSON file of a run: everything that was measured, and what it means. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Verdict } from './bounds.ts';
import type { Options } from './options.ts';
import type { Measurement } from './results.ts';
import { type Bend, bendsOf, type Point, pointsOf, type Throughput, throughputOf } from './scale/curve.ts';
import type { SubjectRow } from './subjects.ts';

export interface ResultFile {
  readonly started: string;
  readonly minutes: number;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly options: Options;
  readonly subjects: readonly { readonly name: string; readonly what: string; readonly version?: string }[];
  /** Subjects that could not be had, with the reason. */
  readonly missing: Readonly<Record<string, string>>;
  readonly measurements: readonly Measurement[];
  readonly routes: readonly unknown[];
  readonly scale: Scale;
  readonly bounds: readonly unknown[];
}

export interface Scale {
  readonly points: readonly Point[];
  readonly bends: readonly Bend[];
  readonly throughput: readonly Throughput[];
}

export const scaleOf = (measurements: readonly Measurement[], machineCores: number): Scale => {
  const points = pointsOf(measurements);
  return {
    points,
    bends: bendsOf(points, machineCores),
    throughput: throughputOf(measurements, machineCores),
  };
};

export const describe = (row: SubjectRow): ResultFile['subjects'][number] => {
  const version = versionOf(row);
  return { name: row.name, what: row.what, ...(version === undefined ? {} : { version }) };
};

const versionOf = ({ install, program }: SubjectRow): string | undefined => {
  if (install !== undefined) return Object.values(install.packages)[0];
  if (program === undefined) return undefined;
  // nginx prints it to stderr.
  const { stdout, stderr } = spawnSync(program, ['-v'], { encoding: 'utf8' });
  return /\d+(\.\d+)+/.exec(stdout + stderr)?.[0];
};

export const boundsOf = (verdicts: readonly Verdict[]): readonly unknown[] =>
  verdicts.map(({ bound, value, aim, met, aimMet }) => ({
    measure: bound.measure,
    value,
    unit: bound.unit,
    kind: bound.kind,
    limit: bound.limit,
    aim,
    met,
    aim_met: aimMet,
  }));

/** Returns the file it was written to. */
export const writeResult = (result: ResultFile): string => {
  const name = `${result.started.replaceAll(':', '-')}.json`;
  const file = result.options.json ?? path.join('bench', 'results', name);
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
  return file;
};

export const readResult = (file: string): ResultFile => {
  const result = JSON.parse(readFileSync(file, 'utf8')) as Partial<ResultFile>;
  if (result.measurements === undefined || result.machine === undefined || result.scale === undefined)
    throw new Error(`${file} is not a result of this bench`);
  return result as ResultFile;
};
