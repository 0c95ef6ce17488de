/** Output of commands: results on standard output for scripts, remarks on standard error. */

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

export const remark = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Rows of cells under a heading, in columns as wide as their widest cell. */
export const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ''))));
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - width(cell));
  return lines.map((line) => line.map(padded).join('  ').trimEnd()).join('\n');
};

export const printTable = (...rows: Parameters<typeof table>): void => print(table(...rows));

/** Characters, not code units; a letter and its accent are one. */
const segmenter = new Intl.Segmenter();
const width = (text: string): number => [...segmenter.segment(text)].length;

/** Unix seconds → `2026-01-31 09:05`, universal time. */
export const minute = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
