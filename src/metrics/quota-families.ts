/** Metric families of quotas: refusals, overruns, and the used parts of budgets. */
import { counter, gauge, type MetricFamily } from './exposition.ts';

interface QuotaCounts {
  /** By kind of limit, or `budget`. */
  readonly refusals: ReadonlyMap<string, number>;
  readonly overruns: number;
  /** By id of the budget. */
  readonly ratios: ReadonlyMap<string, number>;
}

export const quotaFamilies = ({ refusals, overruns, ratios }: QuotaCounts): readonly MetricFamily[] => [
  counter(
    'sluice_quota_refused_total',
    'Requests refused with 429 because they could exceed a limit on tokens, a limit of their key or a budget.',
    [...refusals].map(([kind, value]) => ({ labels: { kind }, value })),
  ),
  counter(
    'sluice_quota_overruns_total',
    'Calls whose engine used more than was reserved for them.',
    overruns,
  ),
  gauge(
    'sluice_budget_used_ratio',
    'Used part of a budget in its current period, of budgets that calls of this process were billed to.',
    [...ratios].map(([budget, value]) => ({ labels: { budget }, value })),
  ),
];
