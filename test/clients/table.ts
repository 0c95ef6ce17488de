/** Prints which clients were exercised: versions, checks, outcome. */
import type { CheckResult, Client } from './client.ts';

export interface Row {
  readonly slug: string;
  readonly client: Client;
  /** Why it was skipped; undefined: it ran. */
  readonly missing: string | undefined;
  readonly results: readonly CheckResult[];
  readonly seconds: number;
}

const headings = ['Client', 'Versions', 'Outcome', 'Seconds', 'Exercised'];

export const tableOf = (rows: readonly Row[]): string => {
  const cells = [headings, headings.map(() => '---'), ...rows.map(cellsOf)];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) => {
      const padded = row.map((cell, column) =>
        column === headings.length - 1 ? cell : cell.padEnd(widths[column] ?? 0),
      );
      return `| ${padded.join(' | ')} |`;
    })
    .join('\n');
};

const cellsOf = ({ client, missing, results, seconds }: Row): string[] => {
  const versions = Object.entries(client.packages).map(([name, version]) => `${name} ${version}`);
  const failed = results.filter(({ problem }) => problem !== undefined);
  const outcome =
    missing !== undefined
      ? 'skipped'
      : failed.length === 0
        ? 'passed'
        : `${failed.length} of ${results.length} failed`;
  return [
    client.name,
    versions.join(', '),
    outcome,
    seconds.toFixed(0),
    missing ?? results.map(({ name }) => name).join(', '),
  ];
};
