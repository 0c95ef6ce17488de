/** What was used, and what it costs: every event counts once, however often it is inserted. */
import type { UsageEvent } from '../../schemas/usage-event.ts';

export type UsageGroup = 'day' | 'model' | 'key' | 'route' | 'subscription';

export interface UsageFilter {
  /** Undefined: all subscriptions (operators only). */
  readonly subscription?: string;
  /** Unix milliseconds, inclusive. */
  readonly from: number;
  /** Unix milliseconds, exclusive. */
  readonly to: number;
}

export interface UsageTotal {
  /** One value per group asked for, in the same order; days as `2026-11-15` (UTC). */
  readonly group: readonly string[];
  readonly events: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  /** Exact decimal. */
  readonly cost: string;
}

export interface Ledger {
  insert(events: readonly UsageEvent[]): Promise<void>;
  /** Sorted by group. */
  totals(filter: UsageFilter, groups: readonly UsageGroup[]): Promise<readonly UsageTotal[]>;
  /** Oldest first; `after` is the id of the last event of the page before. */
  list(filter: UsageFilter, page: { after?: string; limit: number }): Promise<readonly UsageEvent[]>;
  /** Which of these ids are there: what `usage verify` asks. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
  check(): Promise<void>;
  close(): Promise<void>;
}
