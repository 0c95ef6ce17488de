/** A filter and groups in; totals over the events out, each counted once. */
import type { Page, UsageFilter, UsageGroup, UsageTotal } from '../../ports/ledger.ts';
import { condition } from './clickhouse-condition.ts';
import type { ClickHouse } from './clickhouse-connection.ts';

const groupColumns: Record<UsageGroup, string> = {
  day: 'toString(toDate(time))',
  model: 'toString(model)',
  key: 'toString(key)',
  route: 'toString(route)',
  subscription: 'subscription',
};

const counts = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens', 'inputs'];
/** Money and measures as text: a float would not be exact. */
const measures = ['megapixels', 'seconds', 'cost'];

export const selectTotals = async (
  clickHouse: ClickHouse,
  filter: UsageFilter,
  groups: readonly UsageGroup[],
  { after, limit }: Page<readonly string[]>,
): Promise<readonly UsageTotal[]> => {
  const { where, values } = condition(filter);
  const keys = groups.map((_, index) => `group${index}`);
  const beyond =
    after === undefined || keys.length === 0
      ? ''
      : `AND (${groups.map((group) => groupColumns[group]).join(', ')},) > ({after:Array(String)}[1]${after
          .slice(1)
          .map((_, index) => `, {after:Array(String)}[${index + 2}]`)
          .join('')},)`;
  const rows = await clickHouse.query<readonly (string | number)[]>(
    `SELECT ${[
      ...groups.map((group, index) => `${groupColumns[group]} AS group${index}`),
      'count()',
      "countIf(outcome = 'failed')",
      ...counts.map((name) => `sum(${name})`),
      ...measures.map((name) => `toString(sum(${name}))`),
    ].join(', ')}
     FROM sluice_usage FINAL WHERE ${where} ${beyond}
     ${keys.length === 0 ? 'HAVING count() > 0' : `GROUP BY ${keys.join(', ')} ORDER BY ${keys.join(', ')}`}
     LIMIT {limit:UInt32} SETTINGS do_not_merge_across_partitions_select_final = 1`,
    { ...values, limit, ...(beyond === '' ? {} : { after: after ?? [] }) },
  );
  return rows.map((row) => total(row, groups.length));
};

const total = (row: readonly (string | number)[], groups: number): UsageTotal => {
  const [requests, failed, prompt, completion, cached, reasoning, inputs, megapixels, seconds, cost] = row
    .slice(groups)
    .map(String);
  return {
    group: row.slice(0, groups).map(String),
    requests: Number(requests),
    failed: Number(failed),
    prompt_tokens: Number(prompt),
    completion_tokens: Number(completion),
    cached_tokens: Number(cached),
    reasoning_tokens: Number(reasoning),
    inputs: Number(inputs),
    megapixels: megapixels ?? '0',
    seconds: seconds ?? '0',
    cost: cost ?? '0',
  };
};
