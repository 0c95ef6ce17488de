/** A row of the command table: a command's name, operands, options and help. */

export interface Command {
  /** The words after `sluice`: `keys create`. */
  readonly name: string;
  /** Operands as the usage line shows them: `NAME`, `[KEY…]`; without them it takes none. */
  readonly operands?: string;
  readonly arity?: readonly [min: number, max: number];
  readonly summary: string;
  /** More for `--help`. */
  readonly details?: string;
  readonly options?: Readonly<Record<string, Option>>;
  run(input: Input): Promise<void>;
}

export interface Option {
  /** Name of its value in the usage line; without one it is a flag. */
  readonly value?: string;
  readonly help: string;
  /** One letter: `f` for `-f`. */
  readonly short?: string;
}

export interface Input {
  readonly operands: readonly string[];
  /** Value of an option; undefined when it was not given. */
  text(name: string): string | undefined;
  given(name: string): boolean;
}

/** The command line is invalid: one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const json: Option = { help: 'print JSON, for scripts' };
