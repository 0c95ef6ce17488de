/** `npm run attack -- [row …] [--seconds N] [--json FILE] [--markdown]`: exits with 1 when a victim was harmed. */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { orEnd, readCommandLine } from '../command-line.ts';
import { Progress } from '../progress.ts';
import { markdownTable, terminalTable } from './report.ts';
import type { Row } from './row.ts';
import { rows } from './rows.ts';
import { type RowResult, runRow, secondsOf } from './run-row.ts';

const { values, operands: positionals } = readCommandLine({
  command: 'npm run attack',
  summary: 'Attacks a gateway and measures latency and errors of a client of another subscription.',
  operands: '[row …]',
  options: {
    seconds: { value: 'N', help: 'length of each attack', from: 2, to: 600 },
    json: { value: 'FILE', help: 'file for all measurements' },
    markdown: { help: 'print the table as Markdown' },
    list: { help: 'list the rows' },
  },
});

orEnd('npm run attack', () => {
  const unknown = positionals.find((name) => !rows.some((row) => row.name === name));
  if (unknown !== undefined) throw new Error(`unknown attack "${unknown}", --list shows all`);
});
const chosen = positionals.length === 0 ? rows : rows.filter(({ name }) => positionals.includes(name));
const { seconds } = values;

const summary = ({ row, complaints, attacker }: RowResult): string =>
  `${row}: ${complaints.map(({ text }) => text).join('; ') || 'good'} (attacker: ${JSON.stringify(attacker)})`;

/** Other work on the machine delays the victim as well: a row that fails by latency alone is measured once more. */
const run = async (row: Row, progress: Progress): Promise<RowResult | string> => {
  const first = await runRow(row, { seconds });
  if (typeof first === 'string' || first.complaints.length === 0) return first;
  if (!first.complaints.every(({ about }) => about === 'latency')) return first;
  progress.say(`${summary(first)}: once more`);
  return runRow(row, { seconds });
};

if (values.list) {
  for (const { name, title } of rows) process.stdout.write(`${name.padEnd(22)} ${title}\n`);
} else {
  const [load = 0] = loadavg();
  const progress = new Progress();
  progress.plan(chosen.reduce((sum, row) => sum + secondsOf(row, { seconds }), 0));
  if (load > availableParallelism())
    progress.say(
      `The machine is busy (load ${load.toFixed(1)}): latencies will be those of other work as well.`,
    );
  const results: RowResult[] = [];
  for (const row of chosen) {
    progress.begin(row.name, secondsOf(row, { seconds }));
    const result = await run(row, progress);
    progress.finish(secondsOf(row, { seconds }));
    progress.say(typeof result === 'string' ? `${row.name}: skipped: ${result}` : summary(result));
    if (typeof result !== 'string') results.push(result);
  }
  progress.end();
  process.stdout.write(`${(values.markdown ? markdownTable : terminalTable)(results)}\n`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  process.exitCode = results.length > 0 && results.every(({ complaints }) => complaints.length === 0) ? 0 : 1;
}
