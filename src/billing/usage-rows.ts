/** Formats totals and events of the ledger as rows of the API and the CLI. */
import type { UsageRequestRow, UsageTotalRow } from '../../schemas/usage.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { UsageGroup, UsageTotal } from '../ports/ledger.ts';

type Named = Partial<Record<UsageGroup, string>>;

export const totalRow = (groups: readonly UsageGroup[], total: UsageTotal): UsageTotalRow & Named => {
  const named: Named = Object.fromEntries(groups.map((group, index) => [group, total.group[index]]));
  const { group: _, megapixels, seconds, ...sums } = total;
  const { cost, ...counts } = sums;
  return {
    object: 'usage.total',
    ...named,
    ...counts,
    megapixels: Number(megapixels),
    seconds: Number(seconds),
    cost,
  };
};

/** What failed was not billed: its quantities are not shown as if they were. */
export const requestRow = (event: UsageEvent): UsageRequestRow => {
  const { quantities } = event;
  const billed = event.outcome !== 'failed';
  return {
    object: 'usage.request',
    id: event.id,
    request_id: event.request_id,
    created: Math.floor(event.time / 1000),
    key: event.key,
    route: event.route,
    model: event.model,
    ...(event.requested_model === undefined ? {} : { requested_model: event.requested_model }),
    outcome: event.outcome,
    status: event.status,
    prompt_tokens: billed ? quantities.prompt_tokens : 0,
    completion_tokens: billed ? quantities.completion_tokens : 0,
    cached_tokens: billed ? quantities.cached_tokens : 0,
    reasoning_tokens: billed ? quantities.reasoning_tokens : 0,
    inputs: billed ? (quantities.inputs ?? 0) : 0,
    megapixels: billed ? Number(quantities.megapixels ?? 0) : 0,
    seconds: billed ? Number(quantities.seconds ?? 0) : 0,
    cost: event.cost,
  };
};
