/** Usage and its cost: every event counts once, however often it is inserted. */
import type { UsageEvent } from '../../schemas/usage-event.ts';

export const usageGroups = ['hour', 'day', 'month', 'model', 'key', 'route', 'subscription'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** Sums are kept by day: those by hour read every event, and so have a longest period. */
export const mostHours = 31 * 24;

export interface UsageFilter {
  /** Undefined: all subscriptions (operators only). */
  readonly subscription?: string;
  /** Only that of this one each. */
  readonly key?: string;
  readonly model?: string;
  readonly route?: string;
  /** Unix milliseconds, inclusive. */
  readonly from: number;
  /** Unix milliseconds, exclusive. */
  readonly to: number;
}

/** What of a filter names one thing each. */
export const filteredBy = ['subscription', 'key', 'model', 'route'] as const;

/** `after` is the place of the last row of the page before. */
export interface Page<Place> {
  readonly after?: Place;
  readonly limit: number;
}

export type EventPlace = Pick<UsageEvent, 'time' | 'id'>;

export interface EventPage extends Page<EventPlace> {
  /** The newest first; the oldest unless given. */
  readonly order?: 'desc';
}

export interface UsageTotal {
  /** One value per group asked for, in the same order; hours as `2026-11-15T12:00Z`, days as `2026-11-15`, months as `2026-11` (UTC). */
  readonly group: readonly string[];
  /** All of them, and those of them that failed; what failed is in no other sum. */
  readonly requests: number;
  readonly failed: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly inputs: number;
  /** Exact decimals. */
  readonly megapixels: string;
  readonly seconds: string;
  readonly cost: string;
}

/** What stands in the ledger under an id. */
export interface LedgerEntry {
  readonly id: string;
  readonly cost: string;
}

/** Calls reject with `unavailable` (503) when the ledger cannot be reached now. */
export interface Ledger {
  /**
   * Any rejection but `unavailable` means that it will never take these events. They are read once,
   * maybe in several ticks. `textOf` gives the JSON of the one at a place, as it came.
   */
  insert(events: Iterable<UsageEvent>, textOf?: (index: number) => string): Promise<void>;
  /** Sorted by group; the place of a total is its group. */
  totals(
    filter: UsageFilter,
    groups: readonly UsageGroup[],
    page: Page<readonly string[]>,
  ): Promise<readonly UsageTotal[]>;
  /** By time and id. */
  list(filter: UsageFilter, page: EventPage): Promise<readonly UsageEvent[]>;
  /** Those of these events that are there, in any order; one that is counted twice comes twice. */
  find(events: readonly Pick<UsageEvent, 'id' | 'time' | 'subscription'>[]): Promise<readonly LedgerEntry[]>;
  /** Resolves when it answers; rejects with a plain sentence when it does not. */
  check(): Promise<void>;
  close(): Promise<void>;
}
