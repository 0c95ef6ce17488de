/** All micro-benchmarks in the order they are run. */
import { histogramCases } from './histogram-cases.ts';
import type { MicroCase } from './run.ts';

export const cases: readonly MicroCase[] = [...histogramCases];
