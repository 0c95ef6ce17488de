/** The engines of the configuration, replaced while calls run when their rows change. */
import { isDeepStrictEqual } from 'node:util';
import { type EngineRow, SIMULATOR } from '../../schemas/engines.ts';
import { fail } from '../errors.ts';
import type { Engine, Engines } from '../ports/engine.ts';
import { createEngine, type EngineOptions, type EngineStats, type RunningEngine } from './engine.ts';

type EngineRows = Readonly<Record<string, EngineRow>>;

interface EngineTableOptions extends EngineOptions {
  readonly simulator: Engine;
}

export interface EngineTable extends Engines {
  /** Unchanged rows keep their connections and what they know of their replicas; calls on removed ones run to their end. Throws, changing nothing, when a row cannot work. */
  replace(rows: EngineRows): void;
  /** By name; the built-in simulator has none. */
  stats(): ReadonlyMap<string, EngineStats>;
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
    replace: (next) => {
      const old = table;
      table = build(next, old, options);
      for (const [name, entry] of old) if (table.get(name) !== entry) retire(entry.engine);
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
      const known = old.get(name);
      const kept = known !== undefined && isDeepStrictEqual(known.row, row);
      table.set(name, kept ? known : { row, engine: createEngine(name, row, options) });
    }
    return table;
  } catch (error) {
    for (const [name, entry] of table) if (old.get(name) !== entry) void entry.engine.close();
    throw error;
  }
};
