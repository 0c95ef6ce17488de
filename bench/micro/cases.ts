/** All micro-benchmarks in execution order. */
import { admissionCases } from './admission-cases.ts';
import { allowanceCases } from './allowance-cases.ts';
import { embeddingCases } from './embedding-cases.ts';
import { frameCases } from './frame-cases.ts';
import { headCases } from './head-cases.ts';
import { histogramCases } from './histogram-cases.ts';
import { pipelineCases } from './pipeline-cases.ts';
import { quotaCases } from './quota-cases.ts';
import { requestCases } from './request-cases.ts';
import type { MicroCase } from './run.ts';
import { usageCases } from './usage-cases.ts';
import { wireCases } from './wire-cases.ts';

export const cases: readonly MicroCase[] = [
  ...requestCases,
  ...wireCases,
  ...frameCases,
  ...headCases,
  ...usageCases,
  ...admissionCases,
  ...allowanceCases,
  ...quotaCases,
  ...pipelineCases,
  ...embeddingCases,
  ...histogramCases,
];
