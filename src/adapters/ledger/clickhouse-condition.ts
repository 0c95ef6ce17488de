/** A filter in; what selects its events in ClickHouse out. */
import type { UsageFilter } from '../../ports/ledger.ts';
import type { Parameters } from './clickhouse-connection.ts';

/** The last time the table can hold. */
const endOfTime = 9_999_999_999_999;

export const condition = ({
  subscription,
  from,
  to,
}: UsageFilter): { where: string; values: Parameters } => ({
  where: `time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    ${subscription === undefined ? '' : 'AND subscription = {subscription:String}'}`,
  values: {
    from: Math.max(0, Math.min(from, endOfTime)),
    to: Math.max(0, Math.min(to, endOfTime)),
    ...(subscription === undefined ? {} : { subscription }),
  },
});
