/** The JSON file of a run of the routing bench. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ResultFile } from '../result-file.ts';
import type { ChoiceCost } from './choice-cost.ts';
import type { EngineSettings } from './prefix-engine.ts';
import type { Row } from './report.ts';

export interface RoutingResult extends Pick<ResultFile, 'started' | 'machine'> {
  /** In virtual time, without sockets. */
  readonly simulated: boolean;
  readonly seconds: number;
  readonly replicas: number;
  readonly slowed: number;
  readonly engine: EngineSettings;
  /** Routers of others, with their versions. */
  readonly subjects: ResultFile['subjects'];
  readonly rows: readonly Row[];
  readonly choice: readonly ChoiceCost[];
}

/** Returns the file it was written to. */
export const writeRouting = (result: RoutingResult, name: string | undefined): string => {
  const usual = result.simulated ? 'routing-simulated.json' : 'routing.json';
  const file = name ?? path.join('bench', 'results', usual);
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
  return file;
};

export const readRouting = (file: string): RoutingResult => {
  const result = JSON.parse(readFileSync(file, 'utf8')) as Partial<RoutingResult>;
  if (result.rows === undefined || result.machine === undefined || result.subjects === undefined)
    throw new Error(`${file} is not a result of this bench`);
  return result as RoutingResult;
};
