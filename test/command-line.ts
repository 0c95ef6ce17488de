/** The command line of a long-running check: help, options with defaults, and one line about what is wrong. */
import { parseArgs } from 'node:util';
import { table } from '../src/cli/output.ts';

interface TextOption {
  readonly value: string;
  readonly help: string;
  readonly default?: string;
}

interface Flag {
  readonly help: string;
}

type Options = Readonly<Record<string, TextOption | Flag>>;

type Values<Of extends Options> = {
  readonly [Name in keyof Of]: Of[Name] extends TextOption
    ? Of[Name] extends { readonly default: string }
      ? string
      : string | undefined
    : boolean;
};

interface CommandLine<Of extends Options> {
  /** `npm run soak`. */
  readonly command: string;
  readonly summary: string;
  /** As the usage line shows them; absent: it takes none. */
  readonly operands?: string;
  readonly options: Of;
}

/** Ends the process after printing help, or at a word that there is not. */
export const readCommandLine = <Of extends Options>(
  line: CommandLine<Of>,
  args: readonly string[] = process.argv.slice(2),
): { readonly values: Values<Of>; readonly operands: readonly string[] } => {
  const types = Object.entries(line.options).map(([name, option]) => [
    name,
    'value' in option
      ? { type: 'string' as const, ...(option.default !== undefined && { default: option.default }) }
      : { type: 'boolean' as const, default: false },
  ]);
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } },
      allowPositionals: line.operands !== undefined,
    });
    if ((values as { readonly help?: boolean }).help === true) end(0, helpOf(line));
    return { values: values as Values<Of>, operands: positionals };
  } catch (error) {
    const [sentence] = error instanceof Error ? error.message.split('. ') : [String(error)];
    return end(2, `${line.command}: ${sentence}; --help lists what it takes`);
  }
};

const helpOf = ({ command, summary, operands, options }: CommandLine<Options>): string => {
  const rows = Object.entries(options).map(([name, option]) => [
    `  --${name}${'value' in option ? ` ${option.value}` : ''}`,
    `${option.help}${'default' in option ? ` (${option.default})` : ''}`,
  ]);
  const words = [operands, '[options]'].filter((word) => word !== undefined);
  return `${command} -- ${words.join(' ')}\n\n${summary}\n\n${table(['  --help', 'print this'], rows)}`;
};

const end = (code: number, text: string): never => {
  (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exit(code);
};
