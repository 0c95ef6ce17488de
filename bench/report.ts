/** Formats the results as a table: plain text that is also Markdown. */
import type { Verdict } from './bounds.ts';
import type { Results } from './results.ts';
import type { Scenario } from './scenarios.ts';

const titles: Readonly<Record<string, string>> = {
  requests_per_second: 'requests/s',
  chunks_per_second: 'chunks/s',
  cpu_us_per_request: 'CPU µs/request',
  cpu_us_per_chunk: 'CPU µs/chunk',
  cpu_cores: 'CPU cores',
  times_warm: '× warm',
  next_cpu_us_per_request: 'CPU µs, the next 5000',
  next_times_warm: '× warm, the next 5000',
  requests: 'requests',
  latency_p50_ms: 'p50 ms',
  latency_p90_ms: 'p90 ms',
  latency_p99_ms: 'p99 ms',
  first_token_p50_ms: 'first token p50 ms',
  gap_p50_ms: 'gap p50 ms',
  gap_p99_ms: 'gap p99 ms',
  rss_peak_mb: 'RSS MB',
  rss_growth_mb: 'RSS growth MB',
  read_mb: 'read MB',
  seen_by_engine: 'aborted',
  abort_p50_ms: 'abort p50 ms',
  abort_p99_ms: 'p99 ms',
  abort_max_ms: 'max ms',
  gap_p99_over_idle_ms: 'gap p99 over idle ms',
  upload_gap_max_ms: 'gap max ms',
  upload_ms: 'upload ms',
  loop_p99_ms: 'loop delay p99 ms',
};

export const scenarioTable = (scenario: Scenario, subjects: readonly string[], results: Results): string => {
  const cost = scenario.columns.find((column) => column.startsWith('cpu_us'));
  const { reference = 'floor' } = scenario;
  const columns = [...scenario.columns, 'loop_p99_ms'];
  const header = [scenario.title, ...columns.map((column) => titles[column] ?? column)];
  if (cost !== undefined) header.splice(header.indexOf(titles[cost] ?? cost) + 1, 0, `× ${reference}`);
  const rows = subjects
    .filter((subject) =>
      results.measurements.some((each) => each.subject === subject && each.scenario === scenario.name),
    )
    .map((subject) => {
      const cells = [subject];
      for (const column of columns) {
        cells.push(figure(results.median(scenario.name, subject, column)));
        if (column === cost) cells.push(figure(results.ratio(scenario.name, column, subject, reference)));
      }
      return [...cells, errorsText(results.errors(scenario.name, subject))];
    });
  return rows.length === 0 ? '' : table([[...header, 'errors'], ...rows]);
};

/** Every route of a run. There are no ratios: a bare relay has none of these routes. */
export const routesTable = (results: Results): string => {
  const columns = [
    'requests_per_second',
    'cpu_us_per_request',
    'latency_p50_ms',
    'latency_p99_ms',
    'loop_p99_ms',
  ];
  const routes = new Map(results.measurements.map(({ scenario, subject }) => [scenario, subject]));
  const rows = [...routes].map(([route, subject]) => [
    route,
    ...columns.map((column) => figure(results.median(route, subject, column))),
    errorsText(results.errors(route, subject)) || '0',
  ]);
  const title = 'other routes, one at a time (no floor: a bare relay has none of them)';
  return rows.length === 0
    ? ''
    : table([[title, ...columns.map((column) => titles[column] ?? column), 'failures'], ...rows]);
};

/** Bounds that the run says something about. */
export const boundsTable = (verdicts: readonly Verdict[]): string => {
  const judged = verdicts.filter(({ value }) => value !== undefined);
  if (judged.length === 0) return '';
  return table([
    ['bound', 'measured', 'limit', 'aim', ''],
    ...judged.map(({ bound, value, aim, met, aimMet }) => {
      const sign = bound.kind === 'most' ? '≤' : '≥';
      return [
        bound.measure,
        `${figure(value)} ${bound.unit}`,
        `${sign} ${bound.limit} ${bound.unit}`,
        aim === undefined ? '' : `${sign} ${figure(aim)}`,
        met === true ? (aimMet === true ? 'met, aim too' : 'met') : 'NOT MET',
      ];
    }),
  ]);
};

const errorsText = (errors: Readonly<Record<string, number>>): string =>
  Object.entries(errors)
    .map(([reason, count]) => `${count} × ${reason}`)
    .join(', ');

/** Three significant digits; a dash for missing values. */
export const figure = (value: number | undefined): string => {
  if (value === undefined) return '–';
  if (Math.abs(value) >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
};

export const table = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => pad(cells[column] ?? '', width, column > 0)).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column > 0 ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`;
  const [header = [], ...body] = rows;
  return [line(header), rule, ...body.map(line)].join('\n');
};

const pad = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - [...text].length));
  return right ? space + text : text + space;
};
