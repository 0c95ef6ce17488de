/** `npm run attack -- [row …] [--seconds N] [--json FILE] [--markdown]`: exits with 1 when a victim was harmed. */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { readCommandLine } from '../command-line.ts';
import { markdownTable, terminalTable } from './report.ts';
import type { Row } from './row.ts';
import { rows } from './rows.ts';
import { type RowResult, runRow } from './run-row.ts';

const { values, operands: positionals } = readCommandLine({
  command: 'npm run attack',
  summary: 'Attacks a gateway and measures what a client of another subscription feels of it.',
  operands: '[row …]',
  options: {
    seconds: { value: 'N', help: 'how long each row attacks' },
    json: { value: 'FILE', help: 'where to write everything measured' },
    markdown: { help: 'print the table as Markdown' },
    list: { help: 'list the rows' },
  },
});

const unknown = positionals.find((name) => !rows.some((row) => row.name === name));
if (unknown !== undefined) throw new Error(`There is no attack "${unknown}": see npm run attack -- --list`);
const chosen = positionals.length === 0 ? rows : rows.filter(({ name }) => positionals.includes(name));
const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
if (seconds !== undefined && !(seconds >= 2 && seconds <= 600))
  throw new Error('--seconds must be a number from 2 to 600');

const say = (line: string): boolean => process.stderr.write(`${line}\n`);

const summary = ({ row, complaints, attacker }: RowResult): string =>
  `${row}: ${complaints.map(({ text }) => text).join('; ') || 'good'} (attacker: ${JSON.stringify(attacker)})`;

/** Other work on the machine delays the victim as well: a row that fails by latency alone is measured once more. */
const run = async (row: Row): Promise<RowResult | string> => {
  const first = await runRow(row, { seconds });
  if (typeof first === 'string' || first.complaints.length === 0) return first;
  if (!first.complaints.every(({ about }) => about === 'latency')) return first;
  say(`${summary(first)}: once more`);
  return runRow(row, { seconds });
};

if (values.list) {
  for (const { name, title } of rows) process.stdout.write(`${name.padEnd(22)} ${title}\n`);
} else {
  const [load = 0] = loadavg();
  if (load > availableParallelism())
    say(`The machine is busy (load ${load.toFixed(1)}): latencies will be those of other work as well.`);
  const results: RowResult[] = [];
  for (const row of chosen) {
    const result = await run(row);
    say(typeof result === 'string' ? `${row.name}: skipped: ${result}` : summary(result));
    if (typeof result !== 'string') results.push(result);
  }
  process.stdout.write(`${(values.markdown ? markdownTable : terminalTable)(results)}\n`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  process.exitCode = results.length > 0 && results.every(({ complaints }) => complaints.length === 0) ? 0 : 1;
}
