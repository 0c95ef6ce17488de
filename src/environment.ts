/** Reads and checks variables of the environment; the only file that touches `process.env`. */
import { type Networks, parseNetworks } from './helpers/networks.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export const environment = (): Environment => process.env;

/** For a native library that reads a variable as it loads, and cannot be configured otherwise. */
export const setUnlessSet = (name: string, value: string): void => {
  process.env[name] ??= value;
};

/** A setting that cannot be used: its message is the one line the user reads. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** An empty variable counts as not set: compose files and shells produce them. */
export const text = (env: Environment, name: string): string | undefined => {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
};

export const integer = (
  env: Environment,
  name: string,
  fallback: number,
  min: number,
  max: number,
): number => {
  const value = text(env, name);
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max)
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not "${value}"`);
  return number;
};

export const flag = (env: Environment, name: string): boolean => {
  const value = text(env, name)?.toLowerCase();
  if (value === undefined || value === '0' || value === 'false') return false;
  if (value === '1' || value === 'true') return true;
  throw new ConfigError(`${name} must be 1 or 0, not "${value}"`);
};

export const oneOf = <T extends string>(
  env: Environment,
  name: string,
  values: readonly T[],
  fallback: T,
): T => {
  const value = text(env, name);
  if (value === undefined) return fallback;
  const known = values.find((candidate) => candidate === value);
  if (known === undefined)
    throw new ConfigError(`${name} must be one of ${values.join(', ')}, not "${value}"`);
  return known;
};

export const url = (env: Environment, name: string, protocols: readonly string[]): string | undefined => {
  const value = text(env, name);
  if (value === undefined) return undefined;
  if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol))
    throw new ConfigError(
      `${name} must be an address starting with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    );
  return value;
};

/** Separated by commas. */
export const networks = (env: Environment, name: string): Networks | undefined => {
  const value = text(env, name);
  if (value === undefined) return undefined;
  try {
    return parseNetworks(value.split(',').map((each) => each.trim()));
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`);
  }
};
