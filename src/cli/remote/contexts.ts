/** Saved gateways: a file in the user's configuration folder that only the user can read. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { environment, text } from '../../environment.ts';

export interface Context {
  readonly url: string;
  readonly token: string;
}

export interface Contexts {
  /** Undefined: commands use the store of `SLUICE_DATA`. */
  readonly current: string | undefined;
  readonly byName: Readonly<Record<string, Context>>;
}

export const contextsFile = (): string => {
  const env = environment();
  const folder = text(env, 'XDG_CONFIG_HOME') ?? join(text(env, 'HOME') ?? homedir(), '.config');
  return join(folder, 'sluice', 'contexts.json');
};

/** Rejects a file that it did not write with a sentence. */
export const readContexts = (): Contexts => {
  const file = contextsFile();
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: undefined, byName: {} };
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const found = parsed(content);
  if (found === undefined) throw new Error(`${file} is not valid: remove it, and add the contexts again`);
  return found;
};

const parsed = (content: string): Contexts | undefined => {
  try {
    const { current, contexts } = JSON.parse(content) as Record<string, unknown>;
    const isContext = (value: unknown): value is Context =>
      typeof value === 'object' &&
      value !== null &&
      typeof (value as Context).url === 'string' &&
      typeof (value as Context).token === 'string';
    if (typeof contexts !== 'object' || contexts === null || !Object.values(contexts).every(isContext))
      return undefined;
    return {
      current: typeof current === 'string' ? current : undefined,
      byName: contexts as Readonly<Record<string, Context>>,
    };
  } catch {
    return undefined;
  }
};

/** Whole or not at all, and readable for nobody else at any time. */
export const writeContexts = ({ current, byName }: Contexts): void => {
  const file = contextsFile();
  const next = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  rmSync(next, { force: true });
  writeFileSync(next, `${JSON.stringify({ current: current ?? null, contexts: byName }, null, 2)}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  renameSync(next, file);
};
