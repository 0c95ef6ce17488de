/** Checks the fallbacks of models, and puts those of their fallbacks behind them. */
import { type ModelKind, type ModelRow, mostFallbacks } from '../../schemas/catalog.ts';
import type { ConfigFile } from '../../schemas/config-file.ts';
import { nearest } from '../helpers/nearest.ts';
import type { Path } from './problems.ts';

type Rows = ConfigFile['models'];
type Report = (path: Path, says: string) => void;

/** Rendering jobs are retried by their workers, and bill what they were started with. */
const without: ReadonlySet<ModelKind> = new Set(['video', 'music']);

export const checkFallbacks = (rows: Rows, report: Report): void => {
  for (const [id, row] of Object.entries(rows)) {
    if (row.fallbacks === undefined) continue;
    const path = ['models', id, 'fallbacks'];
    if (without.has(kindOf(row))) report(path, `has no meaning for a ${kindOf(row)} model`);
    const faults = row.fallbacks.map((name) => faultOf(rows, id, name));
    for (const [index, fault] of faults.entries())
      if (fault !== undefined) report([...path, String(index)], fault);
    if (faults.every((fault) => fault === undefined) && chainOf(rows, id).length > mostFallbacks)
      report(path, `must lead to at most ${mostFallbacks} models, those of its fallbacks included`);
  }
};

/** Goes on from the name of the field. */
const faultOf = (rows: Rows, id: string, name: string): string | undefined => {
  const [row, other] = [rowOf(rows, id), rowOf(rows, name)];
  if (row === undefined || other === undefined) {
    const meant = nearest(name, Object.keys(rows));
    return `names no row under models${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  }
  if (name === id || chainOf(rows, name).includes(id)) return `leads back to ${id}`;
  if (kindOf(other) !== kindOf(row))
    return `must name a ${kindOf(row)} model, and ${name} is of kind ${kindOf(other)}`;
  const [own, others] = [dimensionsOf(row), dimensionsOf(other)];
  return own === others
    ? undefined
    : `must name a model with vectors of the same length: ${own ?? 'unknown'}, not ${others ?? 'unknown'}`;
};

/** Those of the row in their order, then those that they lead to, each once. Loops end. */
export const chainOf = (rows: Rows, id: string): readonly string[] => {
  const chain = new Set<string>(rowOf(rows, id)?.fallbacks);
  for (const name of chain) for (const next of rowOf(rows, name)?.fallbacks ?? []) chain.add(next);
  return [...chain];
};

/** Names come from a file: some are those of methods. */
const rowOf = (rows: Rows, id: string): ModelRow | undefined =>
  Object.hasOwn(rows, id) ? rows[id] : undefined;
const kindOf = ({ kind = 'chat' }: ModelRow): ModelKind => kind;
const dimensionsOf = ({ capabilities }: ModelRow): number | undefined => capabilities?.embedding?.dimensions;
