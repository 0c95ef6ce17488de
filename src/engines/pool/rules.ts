/** How often a pool retries, when it ejects a replica and how many calls it queues: a row's numbers or the defaults. */
import type { Duration, EngineRow } from '../../../schemas/engines.ts';
import { exponentialBackoff } from '../../helpers/backoff.ts';
import { longest, milliseconds } from '../duration.ts';
import { rowDefaults } from '../effective-row.ts';

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
  attempts: row.attempts ?? rowDefaults.retries.attempts,
  backoff: doubling(
    row.backoff ?? rowDefaults.retries.backoff,
    row.max_backoff,
    rowDefaults.retries.max_backoff,
  ),
  budget: row.budget ?? rowDefaults.retries.budget,
  budgetMin: row.budget_min ?? rowDefaults.retries.budget_min,
});

export const breakerRules = (row: EngineRow['circuit_breaker'] = {}): BreakerRules => ({
  connectionFailures: row.connection_failures ?? rowDefaults.circuit_breaker.connection_failures,
  serverFailures: row.server_failures ?? rowDefaults.circuit_breaker.server_failures,
  cooldown: doubling(
    row.cooldown ?? rowDefaults.circuit_breaker.cooldown,
    row.max_cooldown,
    rowDefaults.circuit_breaker.max_cooldown,
  ),
});

export const queueRules = (row: EngineRow['queue'] = {}): QueueRules => ({
  queueLength: row.length ?? rowDefaults.queue.length,
  waitMs: milliseconds(row.wait ?? rowDefaults.queue.wait),
});

/** The usual maximum is no reason to wait for less than the first time. */
const doubling = (from: Duration, to: Duration | undefined, usual: Duration): ((retry: number) => number) => {
  const most = to ?? longest(from, usual);
  return exponentialBackoff({ first: milliseconds(from), most: milliseconds(most) });
};
