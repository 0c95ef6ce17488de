/** Creates the tables of the ClickHouse ledger and sets their retention. */
import type { ClickHouse } from './clickhouse-connection.ts';

/** The only version of the tables so far. */
const schemaVersion = 1;

/**
 * Every statement may be repeated: processes that start together all run it.
 *
 * The sorting key ends with the event's id, and time and subscription never differ between two copies of an event, so
 * copies meet in one partition and collapse in merges; FINAL collapses those that have not met yet. A partition without
 * inserts for a day is merged into one part, which FINAL reads like any other table.
 * `fsync_*`: offsets are committed after the insert, so an acknowledged insert must outlive a power cut.
 */
const tables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS sluice_usage (
     id String,
     time DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
     subscription String,
     key LowCardinality(String),
     route LowCardinality(String),
     model LowCardinality(String),
     engine LowCardinality(String),
     outcome LowCardinality(String),
     status UInt16,
     prompt_tokens UInt64,
     completion_tokens UInt64,
     cached_tokens UInt64,
     reasoning_tokens UInt64,
     inputs UInt64,
     megapixels Decimal(18, 9),
     seconds Decimal(18, 9),
     cost Decimal(38, 18),
     event String CODEC(ZSTD(3))
   )
   ENGINE = ReplacingMergeTree
   PARTITION BY toYYYYMM(time)
   PRIMARY KEY (subscription, time)
   ORDER BY (subscription, time, id)
   SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1,
     min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1`,
  // When events of a day were last inserted: a maximum stays the same however often it is taken.
  `CREATE TABLE IF NOT EXISTS sluice_usage_touched (day Date, touched SimpleAggregateFunction(max, DateTime64(3, 'UTC')))
   ENGINE = AggregatingMergeTree ORDER BY day SETTINGS fsync_after_insert = 1`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS sluice_usage_touches TO sluice_usage_touched AS
   SELECT toDate(time) AS day, max(now64(3, 'UTC')) AS touched FROM sluice_usage GROUP BY day`,
  `CREATE TABLE IF NOT EXISTS sluice_usage_by_day (
     snapshot UInt64,
     day Date,
     subscription String,
     model LowCardinality(String),
     key LowCardinality(String),
     route LowCardinality(String),
     requests UInt64,
     failed UInt64,
     prompt_tokens UInt64,
     completion_tokens UInt64,
     cached_tokens UInt64,
     reasoning_tokens UInt64,
     inputs UInt64,
     megapixels Decimal(38, 9),
     seconds Decimal(38, 9),
     cost Decimal(38, 18)
   )
   ENGINE = MergeTree
   PARTITION BY toYYYYMM(day)
   ORDER BY (subscription, day, model, key, route)
   SETTINGS fsync_after_insert = 1, ttl_only_drop_parts = 1`,
  `CREATE TABLE IF NOT EXISTS sluice_usage_seals (day Date, snapshot UInt64, taken DateTime64(3, 'UTC'))
   ENGINE = MergeTree ORDER BY day SETTINGS fsync_after_insert = 1`,
];

export const createTables = async (
  clickHouse: ClickHouse,
  retentionDays: number | undefined,
): Promise<void> => {
  await clickHouse.ensureDatabase();
  await clickHouse.command(
    `CREATE TABLE IF NOT EXISTS sluice_schema (version UInt32, applied DateTime DEFAULT now())
     ENGINE = ReplacingMergeTree ORDER BY version`,
  );
  const [[version] = [0]] = await clickHouse.query<[number]>('SELECT max(version) FROM sluice_schema');
  if (version > schemaVersion)
    throw new Error(
      `its tables were made by a newer version (schema ${version}, this one knows ${schemaVersion})`,
    );
  if (version === 0) {
    for (const table of tables) await clickHouse.command(table);
    await clickHouse.command(`INSERT INTO sluice_schema (version) VALUES (${schemaVersion})`);
  }
  if (retentionDays !== undefined) await applyRetention(clickHouse, retentionDays);
};

const applyRetention = async (clickHouse: ClickHouse, days: number): Promise<void> => {
  for (const [table, day] of [
    ['sluice_usage', 'toDateTime(time)'],
    ['sluice_usage_by_day', 'day'],
  ] as const) {
    const [[engine] = ['']] = await clickHouse.query<[string]>(
      'SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
      { table },
    );
    const wanted = `TTL ${day} + toIntervalDay(${days})`;
    if (days === 0 ? !engine.includes(' TTL ') : engine.includes(wanted)) continue;
    await clickHouse.command(`ALTER TABLE ${table} ${days === 0 ? 'REMOVE TTL' : `MODIFY ${wanted}`}`);
  }
};
