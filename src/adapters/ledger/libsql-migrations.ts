/** The tables of the embedded ledger, script by script; the list only ever grows. */

/** Sums of both tables. Measures are whole billionths; money is whole billionths and what is left, in 10⁻¹⁸. */
const sums = [
  'failed',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'inputs',
  'megapixels',
  'seconds',
  'cost',
  'cost_rest',
];
const columns = sums.map((name) => `${name} INTEGER NOT NULL`).join(', ');

export const migrations: readonly string[] = [
  `CREATE TABLE usage (
     id TEXT PRIMARY KEY,
     time INTEGER NOT NULL,
     subscription TEXT NOT NULL,
     model TEXT NOT NULL,
     key TEXT NOT NULL,
     route TEXT NOT NULL,
     ${columns},
     event TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX usage_by_owner ON usage (subscription, time, id);
   CREATE INDEX usage_by_time ON usage (time, id);
   CREATE TABLE usage_by_day (
     subscription TEXT NOT NULL,
     day INTEGER NOT NULL,
     model TEXT NOT NULL,
     key TEXT NOT NULL,
     route TEXT NOT NULL,
     requests INTEGER NOT NULL,
     ${columns},
     PRIMARY KEY (subscription, day, model, key, route)
   ) WITHOUT ROWID;
   CREATE TRIGGER usage_is_new AFTER INSERT ON usage BEGIN
     INSERT INTO usage_by_day VALUES (
       NEW.subscription, NEW.time / 86400000, NEW.model, NEW.key, NEW.route, 1,
       ${sums.map((name) => `NEW.${name}`).join(', ')})
     ON CONFLICT DO UPDATE SET requests = requests + 1,
       ${sums.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')};
   END;`,
];
