/** Prints which model servers were exercised: versions, checks, outcome. */
import type { CheckResult } from '../clients/client.ts';
import type { ModelServer } from './server.ts';

export interface Row {
  readonly slug: string;
  readonly server: ModelServer;
  /** Why it was skipped; undefined: it ran. */
  readonly missing: string | undefined;
  readonly results: readonly CheckResult[];
  readonly seconds: number;
}

const headings = ['Server', 'Version', 'Outcome', 'Seconds', 'Exercised'];

export const tableOf = (rows: readonly Row[]): string =>
  [headings, headings.map(() => '---'), ...rows.map(cellsOf)]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

const cellsOf = ({ server, missing, results, seconds }: Row): string[] => {
  const failed = results.filter(({ problem }) => problem !== undefined);
  const failures = failed.length === 0 ? 'passed' : `${failed.length} of ${results.length} failed`;
  return [
    server.name,
    server.version,
    missing === undefined ? failures : 'skipped',
    seconds.toFixed(0),
    missing ?? results.map(({ name }) => name).join(', '),
  ];
};
