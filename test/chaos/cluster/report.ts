/** Prints the outcome of a chaos run on a cluster: recovery times and what was compared, as tables. */
import { table } from '../../../src/cli/output.ts';
import type { ClusterOutcome } from './run.ts';

type Rows = readonly (readonly string[])[];

const seconds = (milliseconds: readonly (number | undefined)[]): readonly [string, string] => {
  const known = milliseconds.filter((each) => each !== undefined).sort((a, b) => a - b);
  const shown = (value: number | undefined): string =>
    value === undefined ? '–' : (value / 1000).toFixed(1);
  return [
    shown(known[Math.floor((known.length - 1) / 2)]),
    known.length < milliseconds.length ? 'never' : shown(known.at(-1)),
  ];
};

const recoveryRows = ({ recoveries }: ClusterOutcome): Rows => {
  const kinds = [...new Set(recoveries.map(({ kind, fault }) => `${kind}|${fault}`))].sort();
  return kinds.map((each) => {
    const [kind = '', fault = ''] = each.split('|');
    const some = recoveries.filter((one) => one.kind === kind && one.fault === fault);
    return [
      ...[kind, fault, String(some.length)],
      seconds(some.map(({ away }) => away))[0],
      ...seconds(some.map(({ service }) => service)),
      ...seconds(some.map(({ itself }) => itself)),
    ];
  });
};

const resultRows = ({ verdict, recoveries, used, performed, jobs, deliveries }: ClusterOutcome): Rows => {
  const entries = Object.entries(verdict).map(([name, value]) => [
    labels[name as keyof typeof verdict],
    String(Array.isArray(value) ? value.length : value),
  ]);
  return [
    ['faults', String(recoveries.length)],
    ['operations that succeeded', String(performed)],
    ...entries,
    ...Object.entries(jobs).map(([status, count]) => [`jobs ${status}`, String(count)]),
    ['webhooks received, repeated ones too', String(deliveries)],
    ...used.map(({ what, limit, used: value }) => [`${what}, of ${limit}`, String(value)]),
  ];
};

const labels: Readonly<Record<keyof ClusterOutcome['verdict'], string>> = {
  compared: 'charges that clients know of',
  missing: 'of them without an event in the ledger',
  repeated: 'with several',
  wrong: 'with other quantities or amounts',
  billedFailures: 'errors that were billed',
  unanswered: 'events whose answer was cut',
  cut: 'answers that were cut',
  unexplained: 'events that no cut explains',
  differences: 'differences of journals, Kafka and ledger',
  unended: 'jobs that did not end',
  miscounted: 'routes whose completed jobs and charges differ',
  silent: 'jobs without a webhook',
  ambiguous: 'jobs with webhooks of two endings',
  unsigned: 'webhooks without a valid signature',
};

const recoveryHead = [
  ...['Process', 'Fault', 'Times', 'Away, s', 'Service, s', 'Service, most'],
  ...['Itself, s', 'Itself, most'],
];
const resultHead = ['What', 'Count'];

const markdown = (head: readonly string[], rows: Rows, words: number): string => {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    line(head.map((_, column) => (column < words ? '---' : '--:'))),
    ...rows.map(line),
  ].join('\n');
};

export const reportOf = (outcome: ClusterOutcome, asMarkdown: boolean): string => {
  const [recoveries, results] = [recoveryRows(outcome), resultRows(outcome)];
  return asMarkdown
    ? `${markdown(recoveryHead, recoveries, 2)}\n\n${markdown(resultHead, results, 1)}`
    : `${table(recoveryHead, recoveries)}\n\n${table(resultHead, results)}`;
};
