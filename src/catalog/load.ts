/** Loads and checks `sluice.yaml` and the served list; errors name line, column and field of every mistake. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import Value from 'typebox/value';
import { ConfigFile } from '../../schemas/config-file.ts';
import { chainOf } from './fallbacks.ts';
import type { CatalogConfig, ServedIds } from './model-index.ts';
import { CatalogFileError, CatalogUnreadableError, type Problem, schemaProblems } from './problems.ts';
import { resolveRow } from './resolve-row.ts';
import { rowProblems } from './row-problems.ts';
import { parseYaml, type YamlSource } from './yaml-source.ts';

/** Thousands of models fit; a file that is larger is not a catalog. */
const maxBytes = 4 * 1024 * 1024;
const maxServedListBytes = 1024 * 1024;
/** Mistakes that are reported at once. */
const maxProblems = 20;

export const loadCatalogFile = (path: string): CatalogConfig =>
  parseCatalog(readBounded(path, maxBytes), shownPath(path), dirname(resolve(path)));

/** `file` is how messages call it; `folder` is where relative paths in it start. */
export const parseCatalog = (text: string, file: string, folder: string): CatalogConfig => {
  const source = parseYaml(file, text);
  const config = source.value ?? {};
  if (source.repeated.length > 0 || !Value.Check(ConfigFile, config))
    throw refusal(source, [...source.repeated, ...schemaProblems(ConfigFile, config)]);
  const contradictions = rowProblems(config);
  if (contradictions.length > 0) throw refusal(source, contradictions);
  return {
    engines: config.engines ?? {},
    models: Object.entries(config.models).map(([id, row]) => ({
      ...resolveRow(id, row, config.engines?.[row.engine]),
      ...(row.fallbacks === undefined ? {} : { fallbacks: [...chainOf(config.models, id)] }),
    })),
    defaults: config.defaults ?? {},
    servedList: config.served_list === undefined ? undefined : resolve(folder, config.served_list),
  };
};

/** One sentence a field, in the order of the file. */
const refusal = (source: YamlSource, problems: readonly Problem[]): CatalogFileError => {
  const byField = new Map<string, { place: string; says: string }>();
  for (const { path, says } of problems) {
    const field = source.field(path);
    if (!byField.has(field)) byField.set(field, { place: source.place(path), says });
  }
  const sentences = [...byField]
    .map(([field, { place, says }]) => ({ order: orderOf(place), sentence: `${place} ${field} ${says}` }))
    .sort((one, other) => one.order - other.order)
    .map(({ sentence }) => sentence);
  return new CatalogFileError(sentences.slice(0, maxProblems));
};

const orderOf = (place: string): number => {
  const [line, column] = place.split(':').slice(-2).map(Number);
  return (line ?? 0) * 100_000 + (column ?? 0);
};

/**
 * The models that are deployed now: one id a line, `#` begins a comment. Throws a CatalogFileError when the file cannot
 * be read. Ids without a row are ignored.
 */
export const readServedIds = (config: CatalogConfig): ServedIds => {
  if (config.servedList === undefined) return undefined;
  const lines = readBounded(config.servedList, maxServedListBytes).split('\n');
  return new Set(lines.map((line) => line.replace(/#.*$/, '').trim()).filter((id) => id !== ''));
};

/** Reads a text file of limited size. A file that cannot be read is a CatalogUnreadableError. */
const readBounded = (path: string, limit: number): string => {
  const shown = shownPath(path);
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new CatalogUnreadableError([`${shown} is not a file`]);
    const bytes = Buffer.alloc(Math.min(stats.size, limit) + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (stats.size > limit || length > limit)
      throw new CatalogFileError([`${shown}:1:1 is larger than ${limit} bytes`]);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
  } catch (error) {
    if (error instanceof CatalogFileError) throw error;
    if (error instanceof TypeError) throw new CatalogFileError([`${shown}:1:1 is not UTF-8 text`], error);
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new CatalogUnreadableError([`${shown} cannot be read (${reason})`], error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

const shownPath = (path: string): string => {
  const near = relative(process.cwd(), path);
  return near === '' || near.startsWith('..') ? path : near;
};
