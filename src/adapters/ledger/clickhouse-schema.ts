/** Creates the tables of the ClickHouse ledger and sets their retention. */
import type { ClickHouse } from './clickhouse-connection.ts';
import {
  creating,
  creatingTable,
  literal,
  localTable,
  onCluster,
  type Place,
  qualified,
  schemaTable,
  tableNames,
} from './clickhouse-tables.ts';

/** The only version of the tables so far. */
const schemaVersion = 1;

export const createTables = async (
  clickHouse: ClickHouse,
  cluster: string | undefined,
  retentionDays: number | undefined,
): Promise<void> => {
  const place = { database: clickHouse.database, cluster };
  const there = await clickHouse.hasDatabase();
  if (there) await checkKind(clickHouse, place);
  const complete = there && (await isComplete(clickHouse, place));
  if (!complete) {
    // Where this server has it, others of the cluster may not.
    if (!there || cluster !== undefined) await clickHouse.createDatabase(onCluster(place));
    for (const statement of creatingTable(schemaTable, place)) await clickHouse.command(statement);
  }
  const [[version] = [0]] = await clickHouse.query<[number]>('SELECT max(version) FROM sluice_schema');
  if (version > schemaVersion)
    throw new Error(
      `its tables were made by a newer version (schema ${version}, this one knows ${schemaVersion})`,
    );
  if (!complete) for (const statement of creating(place)) await clickHouse.command(statement);
  if (version === 0)
    await clickHouse.command(`INSERT INTO sluice_schema (version) VALUES (${schemaVersion})`);
  if (retentionDays !== undefined) await applyRetention(clickHouse, place, retentionDays);
};

/** Tables of one server would silently take the place of those of a cluster, and hold a part of the events. */
const checkKind = async (clickHouse: ClickHouse, { cluster }: Place): Promise<void> => {
  const [[engine] = ['']] = await clickHouse.query<[string]>(
    'SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
    { name: schemaTable.name },
  );
  if (cluster === undefined && engine === 'Distributed')
    throw new Error('its tables are those of a cluster: set CLICKHOUSE_CLUSTER');
  if (cluster !== undefined && engine !== '' && engine !== 'Distributed')
    throw new Error('its tables are those of a single server: name another database in CLICKHOUSE_URL');
};

/**
 * Whether each server that responds has all tables: one that joined has none. So a start sends no statements to all, which
 * would wait for those that are down; these get what they missed from the queue of the cluster.
 */
const isComplete = async (clickHouse: ClickHouse, place: Place): Promise<boolean> => {
  const names = tableNames(place);
  const source =
    place.cluster === undefined
      ? 'system.tables'
      : `clusterAllReplicas(${literal(place.cluster)}, system, tables)`;
  const servers = place.cluster === undefined ? '1' : 'uniqExact(_shard_num)';
  const [[tables, wanted] = [0, 1]] = await clickHouse.query<[tables: string, wanted: string]>(
    `SELECT countIf(database = {database:String} AND name IN {names:Array(String)}), ${servers} * ${names.length}
     FROM ${source} SETTINGS skip_unavailable_shards = 1`,
    { database: place.database, names },
  );
  return Number(tables) === Number(wanted);
};

const applyRetention = async (clickHouse: ClickHouse, place: Place, days: number): Promise<void> => {
  for (const [name, day] of [
    ['sluice_usage', 'toDateTime(time)'],
    ['sluice_usage_by_day', 'day'],
  ] as const) {
    const table = localTable(name, place);
    const [[engine] = ['']] = await clickHouse.query<[string]>(
      'SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
      { table },
    );
    const wanted = `TTL ${day} + toIntervalDay(${days})`;
    if (days === 0 ? !engine.includes(' TTL ') : engine.includes(wanted)) continue;
    await clickHouse.command(
      `ALTER TABLE ${qualified(table, place)}${onCluster(place)} ${days === 0 ? 'REMOVE TTL' : `MODIFY ${wanted}`}`,
    );
  }
};
