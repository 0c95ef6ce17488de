/** Help texts, from the command table. */
import type { Command } from './command.ts';
import { aligned } from './output.ts';

export const overview = (commands: readonly Command[]): string =>
  [
    'Sluice: a streaming-first inference gateway.',
    '',
    'Usage: sluice COMMAND [OPTIONS]',
    '',
    ...summaries(commands),
    '',
    aligned([
      ['  -h, --help', 'what a command takes: sluice COMMAND --help'],
      ['  --version', 'print the version'],
    ]),
  ].join('\n');

export const groupHelp = (group: string, commands: readonly Command[]): string =>
  [`Usage: sluice ${group} COMMAND [OPTIONS]`, '', ...summaries(commands)].join('\n');

export const commandHelp = (command: Command): string => {
  const options = [...Object.entries(command.options ?? {}), ['help', { help: 'print this' }] as const];
  const rows = options.map(([name, option]) => [
    `  ${'short' in option ? `-${option.short}, ` : ''}--${name}${'value' in option ? ` ${option.value}` : ''}`,
    option.help,
  ]);
  const usage = ['Usage: sluice', command.name, command.operands, '[OPTIONS]'].filter(Boolean).join(' ');
  const summary = `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`;
  const details = command.details === undefined ? [] : [command.details];
  return [usage, '', summary, ...details, '', aligned(rows)].join('\n');
};

const summaries = (commands: readonly Command[]): string[] => [
  'Commands:',
  aligned(commands.map(({ name, summary }) => [`  ${name}`, summary])),
];
