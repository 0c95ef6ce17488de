/** The command line of a runner of clients or servers, and its exit code. */
import { parseArgs } from 'node:util';

export interface Command {
  /** Those to run; none: all of them. */
  readonly names: readonly string[];
  readonly onlyFetch: boolean;
  /** What cannot be had here is left out; else it is a failure, as nothing was seen to work. */
  readonly allowMissing: boolean;
  /** Whether another flag, which only one of the runners has, is set. */
  readonly has: (flag: string) => boolean;
}

/** Throws at a flag or a name that there is not. `program` is how it is called. */
export const readCommand = (
  program: string,
  args: readonly string[],
  known: readonly string[],
  ownFlags: readonly string[] = [],
): Command => {
  const flags = ['fetch', 'allow-missing', ...ownFlags];
  const options: Record<string, { type: 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
  };
  for (const flag of flags) options[flag] = { type: 'boolean' };
  const { values, positionals } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
  });
  if (values.help === true) {
    console.log(helpOf(program, known, ownFlags));
    process.exit(0);
  }
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}; there are ${known.join(', ')}`);
  return {
    names: positionals,
    onlyFetch: values.fetch === true,
    allowMissing: values['allow-missing'] === true,
    has: (flag) => values[flag] === true,
  };
};

const helpOf = (program: string, known: readonly string[], ownFlags: readonly string[]): string =>
  [
    `${program} -- [name …] [options]`,
    '',
    `Runs all of ${known.join(', ')}, or those that are named.`,
    '',
    '  --fetch          install them and nothing else',
    '  --allow-missing  leave out what cannot be installed here',
    ...(ownFlags.includes('record')
      ? ['  --record         replace the fixtures by what the servers send']
      : []),
  ].join('\n');

/** The exit code of a run, and what to say about it. */
export const verdictOf = (
  { allowMissing }: Command,
  { failed, missing }: Readonly<Record<'failed' | 'missing', readonly string[]>>,
): { readonly code: 0 | 1; readonly words: readonly string[] } => {
  const absent = missing.join(', ');
  return {
    code: failed.length > 0 || (missing.length > 0 && !allowMissing) ? 1 : 0,
    words: [
      ...(failed.length === 0 ? [] : [`failed: ${failed.join(', ')}`]),
      ...(missing.length === 0
        ? []
        : [
            allowMissing
              ? `left out: ${absent}`
              : `cannot be had here: ${absent} (--allow-missing leaves them out)`,
          ]),
    ],
  };
};

/** Ends with what happened. */
export const endWith = (...run: Parameters<typeof verdictOf>): never => {
  const { code, words } = verdictOf(...run);
  for (const line of words) console.log(line);
  process.exit(code);
};
