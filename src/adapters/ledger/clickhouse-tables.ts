/** The tables of the ClickHouse ledger, as statements for one server or for a cluster. */
import { identifier } from './clickhouse-connection.ts';

interface Table {
  readonly name: string;
  readonly columns: string;
  /** Of a single server; in a cluster its `Replicated` form. */
  readonly engine: string;
  readonly keys: string;
  readonly settings?: string;
  /** In a cluster: what decides on the shard of a row; undefined where rows are not inserted from outside. */
  readonly shardBy?: string;
  /** Further columns and settings that only a cluster needs. */
  readonly inCluster?: { readonly columns?: string; readonly settings?: string };
}

/** Events of one id have one subscription, so their copies meet on one shard. */
const bySubscription = 'cityHash64(subscription)';

export const schemaTable: Table = {
  name: 'sluice_schema',
  columns: 'version UInt32, applied DateTime DEFAULT now()',
  engine: 'ReplacingMergeTree',
  keys: 'ORDER BY version',
  shardBy: 'version',
};

/**
 * The sorting key ends with the event's id, and time and subscription never differ between two copies of an event, so
 * copies meet in one partition and collapse in merges; FINAL collapses those that have not met yet. A partition without
 * inserts for a day is merged into one part, which FINAL reads like any other table.
 * `fsync_*`: offsets are committed after the insert, so an acknowledged insert must outlive a power cut.
 */
const usage: Table = {
  name: 'sluice_usage',
  columns: `
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
     event String CODEC(ZSTD(3))`,
  engine: 'ReplacingMergeTree',
  keys: 'PARTITION BY toYYYYMM(time) PRIMARY KEY (subscription, time) ORDER BY (subscription, time, id)',
  settings: `fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1,
     min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1`,
  shardBy: bySubscription,
};

/** When events of a day were last inserted: a maximum stays the same however often it is taken. */
const touched: Table = {
  name: 'sluice_usage_touched',
  columns: "day Date, touched SimpleAggregateFunction(max, DateTime64(3, 'UTC'))",
  engine: 'AggregatingMergeTree',
  keys: 'ORDER BY day',
  settings: 'fsync_after_insert = 1',
  // A repeated insert whose events were there may be the first to get as far as this table.
  inCluster: { settings: 'replicated_deduplication_window = 0' },
};

const byDay: Table = {
  name: 'sluice_usage_by_day',
  columns: `
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
     cost Decimal(38, 18)`,
  engine: 'MergeTree',
  keys: 'PARTITION BY toYYYYMM(day) ORDER BY (subscription, day, model, key, route)',
  settings: 'fsync_after_insert = 1, ttl_only_drop_parts = 1',
  shardBy: bySubscription,
};

const seals: Table = {
  name: 'sluice_usage_seals',
  columns: "day Date, snapshot UInt64, taken DateTime64(3, 'UTC')",
  engine: 'MergeTree',
  keys: 'ORDER BY day',
  settings: 'fsync_after_insert = 1',
  shardBy: 'snapshot',
  inCluster: { columns: "written DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')" },
};

const tables = [usage, touched, byDay, seals];
const view = 'sluice_usage_touches';

/** Where the tables are. */
export interface Place {
  readonly database: string;
  /** Undefined: on one server. */
  readonly cluster: string | undefined;
}

/** The table that holds the rows of one shard. */
export const localTable = (name: string, { cluster }: Place): string =>
  cluster === undefined ? name : `${name}_local`;

export const onCluster = ({ cluster }: Place): string =>
  cluster === undefined ? '' : ` ON CLUSTER ${literal(cluster)}`;

/** Names of all that a server has. */
export const tableNames = (place: Place): readonly string[] => [
  ...[schemaTable, ...tables].flatMap(({ name }) =>
    place.cluster === undefined ? [name] : [name, localTable(name, place)],
  ),
  view,
];

/** Every statement may be repeated: processes that start together all run it. */
export const creating = (place: Place): readonly string[] => {
  const rowsOf = ({ name }: Table) => qualified(localTable(name, place), place);
  return [
    ...tables.flatMap((table) => creatingTable(table, place)),
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${qualified(view, place)}${onCluster(place)} TO ${rowsOf(touched)} AS
     SELECT toDate(time) AS day, max(now64(3, 'UTC')) AS touched FROM ${rowsOf(usage)} GROUP BY day`,
  ];
};

/**
 * In a cluster, the rows of a shard are in a replicated table under a path of Keeper, and a `Distributed` table with the
 * plain name stands for those of all shards. The path names the table, since its id differs on a server that joins later.
 */
export const creatingTable = (table: Table, place: Place): readonly string[] => {
  const { name, engine, keys, inCluster } = table;
  const { cluster, database } = place;
  if (cluster === undefined)
    return [
      `CREATE TABLE IF NOT EXISTS ${name} (${table.columns}) ENGINE = ${engine} ${keys}${settingsOf(table.settings)}`,
    ];
  const columns = [table.columns, inCluster?.columns].filter(isGiven).join(', ');
  const local = localTable(name, place);
  const replicated = `Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')`;
  const shards = [cluster, database, local].map(literal);
  return [
    `CREATE TABLE IF NOT EXISTS ${qualified(local, place)}${onCluster(place)} (${columns})
     ENGINE = ${replicated} ${keys}${settingsOf(table.settings, inCluster?.settings)}`,
    `CREATE TABLE IF NOT EXISTS ${qualified(name, place)}${onCluster(place)} (${columns})
     ENGINE = Distributed(${[...shards, table.shardBy].filter(isGiven).join(', ')})`,
  ];
};

export const qualified = (name: string, { cluster, database }: Place): string =>
  cluster === undefined ? name : `${identifier(database)}.${name}`;

const settingsOf = (...settings: readonly (string | undefined)[]): string => {
  const given = settings.filter(isGiven);
  return given.length === 0 ? '' : ` SETTINGS ${given.join(', ')}`;
};

const isGiven = (text: string | undefined): text is string => text !== undefined;

export const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
