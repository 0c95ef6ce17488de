/** How often a pool retries, when it ejects a replica and how many calls it queues: a row's numbers or the defaults. */
import type { Duration, EngineRow } from '../../../schemas/engines.ts';
import { exponentialBackoff } from '../../backoff.ts';
import { milliseconds } from '../duration.ts';

export interface RetryRules {
  /** Replicas that one call is sent to, the first included. */
  readonly attempts: number;
  /** Milliseconds before a retry, counted from 1. */
  readonly backoff: (retry: number) => number;
  /** Retries as a share of recent calls, … */
  readonly budget: number;
  /** … and how many are allowed in any case. */
  readonly budgetMin: number;
}

export interface BreakerRules {
  /** Consecutive failures that open the circuit; a single broken connection may be chance. */
  readonly connectionFailures: number;
  readonly serverFailures: number;
  /** Milliseconds until a trial call, counted from 1. */
  readonly cooldown: (failure: number) => number;
}

export interface QueueRules {
  /** Calls that may wait for a replica, and for how many milliseconds. */
  readonly queueLength: number;
  readonly waitMs: number;
}

export const retryRules = (row: EngineRow['retries'] = {}): RetryRules => ({
  attempts: row.attempts ?? 3,
  backoff: doubling(row.backoff ?? '0ms', row.max_backoff, '2s'),
  budget: row.budget ?? 0.2,
  budgetMin: row.budget_min ?? 10,
});

export const breakerRules = (row: EngineRow['circuit_breaker'] = {}): BreakerRules => ({
  connectionFailures: row.connection_failures ?? 2,
  serverFailures: row.server_failures ?? 5,
  cooldown: doubling(row.cooldown ?? '500ms', row.max_cooldown, '30s'),
});

export const queueRules = (row: EngineRow['queue'] = {}): QueueRules => ({
  queueLength: row.length ?? 1000,
  waitMs: milliseconds(row.wait ?? '30s'),
});

/** The usual maximum is no reason to wait for less than the first time. */
const doubling = (from: Duration, to: Duration | undefined, usual: Duration): ((retry: number) => number) => {
  const first = milliseconds(from);
  const most = to === undefined ? Math.max(first, milliseconds(usual)) : milliseconds(to);
  return exponentialBackoff({ first, most });
};
