/** What a cluster of ClickHouse needs of every call: settings for exact totals, and tokens for repeated inserts. */
import { createHash } from 'node:crypto';
import type { ClickHouseSettings as QuerySettings } from '@clickhouse/client';
import type { ClusterSettings } from './clickhouse-settings.ts';

/** Seconds that a replica which is read from may be behind. */
export const mostLag = 300;

/** A reader gets all of the events that a shard has, or an error; a writer knows that its events are there. */
export const clusterQuerySettings = ({ insertQuorum }: ClusterSettings): QuerySettings => ({
  // A replica that is too far behind is not read, even if it is the last one, and no shard is left out.
  max_replica_delay_for_distributed_queries: String(mostLag),
  fallback_to_stale_replicas_for_distributed_queries: 0,
  skip_unavailable_shards: 0,
  // Rows are on their shards when an insert ends, and not in a queue of the server that took them.
  insert_distributed_sync: 1,
  insert_quorum: String(insertQuorum),
  // The server responds before the client has lost its patience.
  insert_quorum_timeout: 20_000,
  // A snapshot is read through the distributed table, which looks at how far replicas are behind.
  parallel_distributed_insert_select: '0',
  // What is there already still touches its day, in case that the first insert did not get so far.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // A statement for all servers does not wait for those that are down: they run it when they are back.
  distributed_ddl_task_timeout: '20',
  distributed_ddl_output_mode: 'null_status_on_timeout',
});

/** Of the events with these ids in this order: a shard that has a block with it takes no other one. */
export const tokenOf = (ids: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const id of ids) hash.update(`${id}\n`);
  return hash.digest('base64url');
};
