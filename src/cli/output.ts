/** Output of commands: results on standard output for scripts, remarks on standard error. */
import { paint, styleOf } from './colours.ts';

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

export const remark = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

type Line = readonly string[];

/** Rows of cells under a heading, in columns as wide as their widest cell; numbers to the right. */
export const table = (heading: Line, rows: readonly Line[], totals?: Line): string => {
  const last = totals === undefined ? [] : [totals];
  const numeric = heading.map((_, column) => isNumeric(rows.map((row) => row[column] ?? '')));
  const bold = (cell: string): string => paint('bold', cell);
  const styles = [
    bold,
    ...rows.map(() => (cell: string) => paint(styleOf(cell), cell)),
    ...last.map(() => bold),
  ];
  return inColumns([heading, ...rows, ...last], numeric, (cell, line) => styles[line]?.(cell) ?? cell);
};

/** Without a heading. */
export const aligned = (lines: readonly Line[]): string => inColumns(lines, [], (cell) => cell);

const inColumns = (
  lines: readonly Line[],
  numeric: readonly boolean[],
  painted: (cell: string, line: number) => string,
): string => {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => width(line[column] ?? ''))),
  );
  const written = (cell: string, column: number, line: number): string => {
    const space = ' '.repeat((widths[column] ?? 0) - width(cell));
    return numeric[column] === true ? space + painted(cell, line) : painted(cell, line) + space;
  };
  return lines
    .map((cells, line) =>
      cells
        .map((cell, column) => written(cell, column, line))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** At least one number, and beside them only dashes and empty cells. */
const isNumeric = (cells: Line): boolean =>
  cells.some((cell) => number.test(cell)) &&
  cells.every((cell) => cell === '' || cell === '–' || number.test(cell));

const number = /^-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?: ?(?:%|s|ms|MiB))?$/;

export const printTable = (...rows: Parameters<typeof table>): void => print(table(...rows));

/** Characters, not code units; a letter and its accent are one. */
const segmenter = new Intl.Segmenter();
const width = (text: string): number => [...segmenter.segment(text)].length;

/** Unix seconds → `2026-01-31 09:05`, universal time. */
export const minute = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
