/** The tables of the embedded ledger, script by script; the list only ever grows. */
import { sumColumns } from './day-sums.ts';
import { prefixLength } from './numbered-id.ts';

/** Milliseconds: the events of a block are of one such stretch, so that those of a time are found by its start. */
export const blockSpan = 60_000;

const counted = sumColumns.filter((name) => name !== 'requests');
const integers = (names: readonly string[]): string =>
  names.map((name) => `${name} INTEGER NOT NULL`).join(', ');

export const migrations: readonly string[] = [
  `CREATE TABLE usage (
     id TEXT PRIMARY KEY,
     time INTEGER NOT NULL,
     subscription TEXT NOT NULL,
     model TEXT NOT NULL,
     key TEXT NOT NULL,
     route TEXT NOT NULL,
     ${integers(counted)},
     event TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE TABLE usage_by_day (
     subscription TEXT NOT NULL,
     day INTEGER NOT NULL,
     model TEXT NOT NULL,
     key TEXT NOT NULL,
     route TEXT NOT NULL,
     ${integers(sumColumns)},
     PRIMARY KEY (subscription, day, model, key, route)
   ) WITHOUT ROWID;`,
  // An event is kept as its text and what it is found by: a third of what each used to cost.
  `DROP TRIGGER IF EXISTS usage_is_new;
   ALTER TABLE usage RENAME TO usage_before;
   CREATE TABLE usage (
     id TEXT NOT NULL UNIQUE,
     time INTEGER NOT NULL,
     subscription TEXT NOT NULL,
     event TEXT NOT NULL
   );
   INSERT INTO usage SELECT id, time, subscription, event FROM usage_before ORDER BY time, id;
   DROP TABLE usage_before;
   CREATE INDEX usage_by_owner ON usage (subscription, time);
   CREATE INDEX usage_by_time ON usage (time);
   ALTER TABLE usage_by_day RENAME TO usage_by_day_before;
   CREATE TABLE usage_by_day (
     day INTEGER NOT NULL,
     subscription TEXT NOT NULL,
     model TEXT NOT NULL,
     key TEXT NOT NULL,
     route TEXT NOT NULL,
     ${integers(sumColumns)},
     PRIMARY KEY (subscription, day, model, key, route)
   ) WITHOUT ROWID;
   INSERT INTO usage_by_day
     SELECT day, subscription, model, key, route, ${sumColumns.join(', ')} FROM usage_by_day_before;
   DROP TABLE usage_by_day_before;`,
  // Events that came together are one row: a third again of what each cost, and most of that is its id.
  `CREATE TABLE usage_blocks (
     id INTEGER PRIMARY KEY,
     subscription TEXT NOT NULL,
     first INTEGER NOT NULL,
     last INTEGER NOT NULL,
     size INTEGER NOT NULL,
     events TEXT NOT NULL
   );
   CREATE TABLE usage_ids (id TEXT PRIMARY KEY, block INTEGER NOT NULL) WITHOUT ROWID;
   INSERT INTO usage_ids
     SELECT id, min(rowid) OVER (PARTITION BY subscription, time / ${blockSpan}, rowid / 500) FROM usage;
   INSERT INTO usage_blocks
     SELECT min(rowid), subscription, min(time), max(time), count(*), '[' || group_concat(event) || ']'
     FROM usage GROUP BY subscription, time / ${blockSpan}, rowid / 500;
   DROP TABLE usage;
   CREATE INDEX usage_blocks_by_owner ON usage_blocks (subscription, first, last, size);
   CREATE INDEX usage_blocks_by_time ON usage_blocks (first, last, size);`,
  // Ids that end in a number are bits on pages; rows are for all others, and for those of before.
  `CREATE TABLE usage_counted (
     prefix TEXT NOT NULL,
     page INTEGER NOT NULL,
     day INTEGER NOT NULL,
     bits BLOB NOT NULL,
     PRIMARY KEY (prefix, page)
   ) WITHOUT ROWID;
   CREATE INDEX usage_counted_by_day ON usage_counted (day);
   CREATE TABLE usage_prefixes_before (prefix TEXT PRIMARY KEY) WITHOUT ROWID;
   INSERT INTO usage_prefixes_before
     WITH RECURSIVE found (prefix) AS (
       SELECT substr(min(id), 1, ${prefixLength}) FROM usage_ids
       UNION ALL
       SELECT (SELECT substr(min(id), 1, ${prefixLength}) FROM usage_ids WHERE id > prefix || '~')
         FROM found WHERE prefix IS NOT NULL
     )
     SELECT prefix FROM found WHERE prefix IS NOT NULL;`,
];
