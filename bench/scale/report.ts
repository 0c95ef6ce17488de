/** Formats the scale run as tables and sentences. */
import { figure, table } from '../report.ts';
import type { Bend, Point, Throughput } from './curve.ts';

export const scaleReport = (
  points: readonly Point[],
  bends: readonly Bend[],
  throughput: readonly Throughput[],
): string => {
  if (points.length === 0 && throughput.length === 0) return '';
  const sentences = bends.map(
    ({ subject, streams, why }) => `${subject} bends at ${streams} streams: ${why}`,
  );
  return [streamsTable(points), sentences.join('\n'), throughputTable(throughput)]
    .filter((part) => part !== '')
    .join('\n\n');
};

const streamsTable = (points: readonly Point[]): string =>
  table([
    [
      'streams, 20 tokens/s each',
      'streams',
      'delivered %',
      'CPU µs/token',
      'delay p50 ms',
      'delay p99 ms',
      'added p50 ms',
      'added p99 ms',
      'RSS MB',
      'gateway cores',
      'engine cores',
      'generator cores',
      'other cores',
    ],
    ...points.map((point) => [
      point.subject,
      String(point.streams),
      figure(point.delivered * 100),
      figure(point.cpuPerToken),
      figure(point.delayP50),
      figure(point.delayP99),
      figure(point.addedP50),
      figure(point.addedP99),
      figure(point.residentMegabytes),
      figure(point.cores.gateway),
      figure(point.cores.engine),
      figure(point.cores.generator),
      figure(point.cores.other),
    ]),
  ]);

const throughputTable = (rows: readonly Throughput[]): string =>
  rows.length === 0
    ? ''
    : table([
        ['serve --processes', 'processes', 'requests/s', 'chunks/s', 'CPU µs/request', 'limited by'],
        ...rows.map((row) => [
          row.load,
          String(row.processes),
          figure(row.requestsPerSecond),
          figure(row.chunksPerSecond),
          figure(row.cpuPerRequest),
          row.limitedBy,
        ]),
      ]);
