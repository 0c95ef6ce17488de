/** The engines of the configuration, replaced while calls run when their rows change. */
import { isDeepStrictEqual } from 'node:util';
import type { EngineRow } from '../../schemas/engines.ts';
import { SIMULATOR } from '../../schemas/simulator.ts';
import { fail } from '../errors.ts';
import type { Engine, Engines } from '../ports/engines/engine.ts';
import { effectiveRow } from './effective-row.ts';
import {
  createEngine,
  type EngineOptions,
  type EngineStats,
  type RunningEngine,
  replicaAddresses,
} from './engine.ts';

type EngineRows = Readonly<Record<string, EngineRow>>;

interface EngineTableOptions extends EngineOptions {
  readonly simulator: Engine;
}

export interface EngineTable extends Engines {
  /**
   * Unchanged rows keep their connections and what they know of their replicas, and so do the replicas that stay where
   * only those changed; calls on removed ones run to their end. Throws, changing nothing, when a row cannot work.
   */
  replace(rows: EngineRows): void;
  /** By name; the built-in simulator has none. */
  stats(): ReadonlyMap<string, EngineStats>;
  /** With every default; undefined: there is no such row. */
  row(engine: string): EngineRow | undefined;
  /** By an operator. Undefined: there is no such engine; false: it has no such replica. */
  setDrained(engine: string, url: string, drained: boolean): boolean | undefined;
}

interface Entry {
  readonly row: EngineRow;
  readonly engine: RunningEngine;
}

export const createEngines = (rows: EngineRows, options: EngineTableOptions): EngineTable => {
  const closing = new Set<Promise<void>>();
  let table = build(rows, new Map(), options);

  const retire = (engine: RunningEngine): void => {
    const closed = engine
      .close()
      .catch((error: unknown) => options.log.warn({ err: error }, 'engine did not close'))
      .finally(() => closing.delete(closed));
    closing.add(closed);
  };

  return {
    of: (model) => {
      const engine = table.get(model.engine)?.engine;
      if (engine !== undefined) return engine;
      if (model.engine === SIMULATOR) return options.simulator;
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine is missing`);
    },
    health: () => ({
      ...(table.has(SIMULATOR) ? {} : { [SIMULATOR]: 'ok' as const }),
      ...Object.fromEntries([...table].map(([name, entry]) => [name, entry.engine.health()])),
    }),
    stats: () => new Map([...table].map(([name, { engine }]) => [name, engine.stats()])),
    row: (name) => {
      const row = table.get(name)?.row;
      return row && effectiveRow(row);
    },
    setDrained: (name, url, drained) => table.get(name)?.engine.setDrained(url, drained),
    replace: (next) => {
      const old = table;
      table = build(next, old, options);
      for (const [name, { row, engine }] of table)
        if (old.get(name)?.engine === engine && old.get(name)?.row !== row) engine.setReplicas(row.replicas);
      for (const [name, { engine }] of old) if (table.get(name)?.engine !== engine) retire(engine);
    },
    close: async () => {
      for (const entry of table.values()) retire(entry.engine);
      table = new Map();
      await Promise.all(closing);
    },
  };
};

const build = (
  rows: EngineRows,
  old: ReadonlyMap<string, Entry>,
  options: EngineOptions,
): Map<string, Entry> => {
  const table = new Map<string, Entry>();
  try {
    for (const [name, row] of Object.entries(rows)) {
      table.set(
        name,
        kept(name, row, old.get(name), options) ?? { row, engine: createEngine(name, row, options) },
      );
    }
    return table;
  } catch (error) {
    for (const [name, { engine }] of table) if (old.get(name)?.engine !== engine) void engine.close();
    throw error;
  }
};

/** The running engine, where at most its replicas have changed. */
const kept = (
  name: string,
  row: EngineRow,
  known: Entry | undefined,
  options: EngineOptions,
): Entry | undefined => {
  if (known === undefined || isDeepStrictEqual(known.row, row)) return known;
  if (!isDeepStrictEqual({ ...known.row, replicas: [] }, { ...row, replicas: [] })) return undefined;
  // Checked here: a configuration is refused as a whole.
  replicaAddresses(name, row.replicas, options);
  return { row, engine: known.engine };
};
