/** Writes results as a table for a terminal or for the documentation. */
import { table } from '../../src/cli/output.ts';
import type { RowResult } from './run-row.ts';
import { failed } from './verdict.ts';
import type { Measured } from './victims.ts';

const milliseconds = (value: number): string => (value < 10 ? value.toFixed(1) : String(Math.round(value)));

const times = ({ p50, p99 }: Measured): string => `${milliseconds(p50)} / ${milliseconds(p99)}`;

const share = (measured: Measured): string =>
  measured.sent === 0 ? '–' : `${Math.round((100 * failed(measured)) / measured.sent)} %`;

const cells = (result: RowResult): readonly string[] => [
  result.victim,
  times(result.idle),
  times(result.attacked),
  share(result.attacked),
  String(result.peakRss),
  String(result.maxRss),
];

const columns = ['Victim', 'Idle p50 / p99 ms', 'Attacked p50 / p99 ms', 'Failed', 'Peak MiB', 'Bound MiB'];

export const terminalTable = (results: readonly RowResult[]): string =>
  table(
    ['ATTACK', ...columns.map((column) => column.toUpperCase()), ''],
    results.map((result) => [
      result.row,
      ...cells(result),
      result.complaints.length === 0 ? 'good' : 'HARMED',
    ]),
  );

export const markdownTable = (results: readonly RowResult[]): string => {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  return [
    line(['Attack', ...columns]),
    line(['', ...columns].map((_, index) => (index < 2 ? '---' : '---:'))),
    ...results.map((result) => line([`\`${result.row}\`: ${result.title}`, ...cells(result)])),
  ].join('\n');
};
