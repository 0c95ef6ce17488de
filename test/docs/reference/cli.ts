/** The reference of the command line, from the command table and its own help. */

import { slugOf } from '../../../docs/.vitepress/links.ts';
import type { Command } from '../../../src/cli/command.ts';
import { commands } from '../../../src/cli/commands.ts';
import { commandHelp } from '../../../src/cli/help.ts';
import { code, joined, opening, plain, table } from './page.ts';

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const section = (command: Command): string =>
  `## sluice ${command.name}\n\n\`\`\`text\n${commandHelp(command)}\n\`\`\``;

export const cliPage = (): string =>
  joined([
    opening(
      'Command line',
      'Every command of `sluice`, with its operands and options. From a checkout or a project that has the package, run it as `npx sluice`. Exit codes: 0, 1 if the command failed, 2 if the command line is invalid.',
      "the commands' own help",
    ),
    table(
      ['Command', ''],
      commands.map(({ name, summary }) => [
        `[${code(name)}](#${slugOf(`sluice ${name}`)})`,
        plain(sentence(summary)),
      ]),
    ),
    ...commands.map(section),
  ]);
