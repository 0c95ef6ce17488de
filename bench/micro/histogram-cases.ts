/** Micro-benchmark of the harness: the overhead per measured value. */
import { Histogram } from '../histogram.ts';
import type { MicroCase } from './run.ts';

const histogram = new Histogram();
let value = 0;

export const histogramCases: readonly MicroCase[] = [
  {
    name: 'harness: one latency into the histogram',
    run: () => {
      value = (value + 7.3) % 900;
      histogram.record(value);
    },
  },
];
