/** The tables of the embedded ledger: blocks of events, the ids that were counted, and sums by day. */
import { sumColumns } from './day-sums.ts';

/** Milliseconds: all events of a block lie in one such segment of time, so that blocks are found by their start. */
export const blockSpan = 60_000;

export const schema = `
  CREATE TABLE usage_blocks (
    id INTEGER PRIMARY KEY,
    subscription TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    size INTEGER NOT NULL,
    events TEXT NOT NULL
  );
  CREATE INDEX usage_blocks_by_owner ON usage_blocks (subscription, first, last, size);
  CREATE INDEX usage_blocks_by_time ON usage_blocks (first, last, size);
  CREATE TABLE usage_ids (id TEXT PRIMARY KEY, batch INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE usage_by_day (
    day INTEGER NOT NULL,
    subscription TEXT NOT NULL,
    model TEXT NOT NULL,
    key TEXT NOT NULL,
    route TEXT NOT NULL,
    ${sumColumns.map((name) => `${name} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (subscription, day, model, key, route)
  ) WITHOUT ROWID;`;
