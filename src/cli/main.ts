/** Runs a command line; the exit code is 0, 1 on failure, 2 when it is invalid. */
import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ApiError } from '../errors.ts';
import { nearest } from '../helpers/nearest.ts';
import { type Command, type Input, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { commandHelp, groupHelp, overview } from './help.ts';
import { print, remark } from './output.ts';
import { version } from './version.ts';

export const run = async (argv: readonly string[]): Promise<number> => {
  process.stdout.off('error', onOutputError).on('error', onOutputError);
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => argv[index] === word));
  try {
    if (command === undefined) print(withoutCommand(argv));
    else await runCommand(command, argv.slice(command.name.split(' ').length));
    return 0;
  } catch (error) {
    remark(`sluice${command === undefined ? '' : ` ${command.name}`}: ${sentence(error)}`);
    return error instanceof UsageError ? 2 : 1;
  }
};

/** `sluice keys list | head -1` stops reading early, which is no failure. */
const onOutputError = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error;
};

const runCommand = async (command: Command, words: readonly string[]): Promise<void> => {
  const input = parse(command, words);
  if (input.given('help')) return print(commandHelp(command));
  const [min, max] = command.arity ?? [0, 0];
  if (input.operands.length < min) throw new UsageError(`${command.operands} is missing`);
  const extra = input.operands[max];
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
  await command.run(input);
};

const parse = (command: Command, words: readonly string[]): Input => {
  const options = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, { value, short }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    const value = (name: string): unknown => (values as Readonly<Record<string, unknown>>)[name];
    return {
      operands: positionals,
      text: (name) => {
        const found = value(name);
        return typeof found === 'string' ? found : undefined;
      },
      given: (name) => value(name) !== undefined,
    };
  } catch (error) {
    // Node's message is long; its first sentence names the fault.
    throw new UsageError(sentence(error).split('. ', 1)[0]);
  }
};

/** Help, the version, or what is wrong with the first words. */
const withoutCommand = ([first, ...rest]: readonly string[]): string => {
  if (first === undefined || first === '--help' || first === '-h') return overview(commands);
  if (first === 'help') return helpOn(rest);
  if (first === '--version') return version();
  const group = groupOf(first);
  const [second] = rest;
  if (second === '--help' || second === '-h' || second === 'help') return groupHelp(first, group);
  const choices = group.map(({ name }) => name.slice(first.length + 1));
  const [was, meant] =
    second === undefined ? ['', undefined] : [`, not "${second}"`, nearest(second, choices)];
  throw new UsageError(`${first} takes one of ${choices.join(', ')}${was}${didYouMean(meant)}`);
};

/** `sluice help keys create`. */
const helpOn = (words: readonly string[]): string => {
  const [first] = words;
  if (first === undefined) return overview(commands);
  const command = commands.find(({ name }) => name === words.join(' '));
  return command === undefined ? groupHelp(first, groupOf(first)) : commandHelp(command);
};

const groupOf = (first: string): readonly Command[] => {
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0) return group;
  const meant = nearest(first, [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]);
  throw new UsageError(`there is no command "${first}"; sluice --help lists them${didYouMean(meant)}`);
};

const didYouMean = (meant: string | undefined): string =>
  meant === undefined ? '' : `; did you mean ${meant}?`;

/** An operator may see the cause of an error, which a client may not. */
const sentence = (error: unknown): string => {
  if (error instanceof ApiError && error.cause instanceof Error) return error.cause.message;
  return error instanceof Error ? error.message : String(error);
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href)
  process.exitCode = await run(process.argv.slice(2));
