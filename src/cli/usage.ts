/** `sluice usage`: prints usage and its cost as a table, as CSV or as JSON. */
import { billedColumns } from '../../schemas/usage.ts';
import { currentMonth, readTime, timeForms } from '../billing/period.ts';
import { csvCell } from '../helpers/csv-cell.ts';
import { add, formatScaled, toScaled } from '../helpers/decimal.ts';
import type { UsageGroup } from '../ports/ledger.ts';
import { usageGroups } from '../ports/ledger.ts';
import { type Command, type Input, json, UsageError } from './command.ts';
import { print, printJson, printTable, remark } from './output.ts';
import { targetOptions } from './remote/target.ts';
import { type Groups, type Row, withUsage } from './usage-pages.ts';

export const usage: Command = {
  name: 'usage',
  summary: 'show what was used and what it costs',
  details: `TIME is ${timeForms}, in universal time; --to is the first moment that does not count.`,
  options: {
    from: { value: 'TIME', help: 'start of the period (start of this month)' },
    to: { value: 'TIME', help: 'its end (end of today)' },
    'group-by': {
      value: 'GROUPS',
      help: `some of ${usageGroups.join(', ')}, with commas between, or request for single requests (day)`,
    },
    subscription: { value: 'SUBSCRIPTION', help: 'only that of this subscription, by id or name' },
    csv: { help: 'print CSV' },
    json,
    ...targetOptions,
  },
  run: async (input) => {
    const groups = readGroups(input.text('group-by') ?? 'day');
    const period = readPeriod(input);
    if (input.given('csv') && input.given('json'))
      throw new UsageError('--csv and --json exclude each other');
    const query = { ...period, groups, subscription: input.text('subscription') };
    await withUsage(input, query, (pages) => show(pages, groups, input));
  },
};

const readGroups = (text: string): Groups => {
  if (text === 'request') return 'request';
  const words = text.split(',');
  const groups = usageGroups.filter((group) => words.includes(group));
  if (groups.length !== words.length)
    throw new UsageError(`--group-by must be some of ${usageGroups.join(', ')}, each once, or request alone`);
  return words as UsageGroup[];
};

const readPeriod = (input: Input): { from: number; to: number } => {
  const usual = currentMonth(Date.now());
  const time = (name: 'from' | 'to'): number => {
    const text = input.text(name);
    if (text === undefined) return usual[name];
    const read = readTime(text);
    if (read === undefined) throw new UsageError(`--${name} must be ${timeForms}`);
    return read;
  };
  const period = { from: time('from'), to: time('to') };
  if (period.from >= period.to) throw new UsageError('--from must be before --to');
  return period;
};

const ofRequest = 'created id request_id subscription key route model outcome status'.split(' ');
const columnsOf = (groups: Groups): readonly string[] => [
  ...(groups === 'request' ? ofRequest : [...groups, 'requests', 'failed']),
  ...billedColumns,
];

const show = async (pages: AsyncIterable<readonly Row[]>, groups: Groups, input: Input): Promise<void> => {
  const columns = columnsOf(groups);
  const cells = (row: Row): string[] => columns.map((column) => String(row[column] ?? ''));
  if (input.given('csv')) {
    print(columns.join(','));
    for await (const rows of pages) for (const row of rows) print(cells(row).map(csvCell).join(','));
    return;
  }
  const rows: Row[] = [];
  for await (const page of pages) rows.push(...page);
  if (input.given('json')) return printJson(rows);
  if (rows.length === 0) return remark('Nothing was used in this time.');
  printTable(
    columns.map((column) => column.toUpperCase().replaceAll('_', ' ')),
    rows.map(cells),
    rows.length > 1 ? cells(totalsOf(rows, columns)) : undefined,
  );
};

const summed: ReadonlySet<string> = new Set(['requests', 'failed', ...billedColumns]);

/** Exact: prices have many digits. */
const totalsOf = (rows: readonly Row[], columns: readonly string[]): Row =>
  Object.fromEntries(
    columns.map((column, index) => {
      if (!summed.has(column)) return [column, index === 0 ? 'TOTAL' : ''];
      const values = rows.map((row) => toScaled(decimal(row[column])));
      return [column, formatScaled(values.reduce(add, toScaled(0)))];
    }),
  );

/** Numbers of JSON may be written with an exponent. */
const decimal = (value: unknown): string => {
  const text = String(value ?? 0);
  return text.includes('e') ? Number(text).toFixed(20) : text;
};
