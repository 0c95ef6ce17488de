/** The command line of a long-running check: help, options with defaults, and one line about what is wrong. */
import { parseArgs } from 'node:util';
import { table } from '../src/cli/output.ts';

interface TextOption {
  readonly value: string;
  readonly help: string;
  readonly default?: string;
}

/** `from` and `to` are allowed values too. */
interface NumberOption {
  readonly value: string;
  readonly help: string;
  readonly from: number;
  readonly to: number;
  /** Halves and the like are allowed: minutes, not clients. */
  readonly fractions?: boolean;
  readonly default?: number;
}

interface Flag {
  readonly help: string;
}

type Option = TextOption | NumberOption | Flag;
type Options = Readonly<Record<string, Option>>;

type ValueOf<One extends Option> = One extends NumberOption
  ? number
  : One extends TextOption
    ? string
    : boolean;

type Values<Of extends Options> = {
  readonly [Name in keyof Of]: Of[Name] extends Flag & { readonly value: string }
    ? Of[Name] extends { readonly default: unknown }
      ? ValueOf<Of[Name]>
      : ValueOf<Of[Name]> | undefined
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

interface Read<Of extends Options> {
  readonly values: Values<Of>;
  readonly operands: readonly string[];
}

/** Ends the process after printing help, or with 2 at an option that does not exist or a value it cannot have. */
export const readCommandLine = <Of extends Options>(
  line: CommandLine<Of>,
  args: readonly string[] = process.argv.slice(2),
): Read<Of> => {
  const read = orEnd(line.command, () => parse(line, args));
  if (read !== undefined) return read;
  process.stdout.write(`${helpOf(line)}\n`);
  process.exit(0);
};

/** What `read` returns; a throw ends the process with 2 and one line, without a stack trace. */
export const orEnd = <Value>(command: string, read: () => Value): Value => {
  try {
    return read();
  } catch (error) {
    const [sentence] = error instanceof Error ? error.message.split('. ') : [String(error)];
    process.stderr.write(`${command}: ${sentence}; --help lists the options\n`);
    process.exit(2);
  }
};

/** Undefined: help is wanted. */
const parse = <Of extends Options>(line: CommandLine<Of>, args: readonly string[]): Read<Of> | undefined => {
  const types = Object.entries(line.options).map(([name, option]) => [
    name,
    'value' in option ? { type: 'string' as const } : { type: 'boolean' as const, default: false },
  ]);
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } },
    allowPositionals: line.operands !== undefined,
  });
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  if (given.help === true) return undefined;
  const found = Object.entries(line.options).map(([name, option]) => [
    name,
    readValue(name, option, given[name]),
  ]);
  return { values: Object.fromEntries(found) as Values<Of>, operands: positionals };
};

const readValue = (
  name: string,
  option: Option,
  given: string | boolean | undefined,
): string | number | boolean | undefined => {
  if (given === undefined) return 'default' in option ? option.default : undefined;
  if (!('from' in option)) return given;
  const { from, to, fractions = false } = option;
  const number = given === '' ? Number.NaN : Number(given);
  if (number >= from && number <= to && (fractions || Number.isInteger(number))) return number;
  throw new Error(`--${name} takes ${fractions ? 'a number' : 'a whole number'} from ${from} to ${to}`);
};

const helpOf = ({ command, summary, operands, options }: CommandLine<Options>): string => {
  const rows = Object.entries(options).map(([name, option]) => [
    `  --${name}${'value' in option ? ` ${option.value}` : ''}`,
    `${option.help}${'default' in option ? ` (${option.default})` : ''}`,
  ]);
  const words = [operands, '[options]'].filter((word) => word !== undefined);
  return `${command} -- ${words.join(' ')}\n\n${summary}\n\n${table(['  --help', 'print this'], rows)}`;
};
