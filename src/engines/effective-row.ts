/** A row of `engines` with every default filled in. */
import type { EngineRow } from '../../schemas/engines.ts';
import { longest } from './duration.ts';

/** What a row that says nothing else has. */
export const rowDefaults = {
  balance: 'prefix',
  slow_start: '30s',
  timeouts: { connect: '2s', first_byte: '60s', idle: '30s', total: '10m' },
  retries: { attempts: 3, backoff: '0ms', max_backoff: '2s', budget: 0.2, budget_min: 10 },
  circuit_breaker: { connection_failures: 2, server_failures: 5, cooldown: '500ms', max_cooldown: '30s' },
  queue: { length: 1000, wait: '30s' },
  probe: { interval: '10s' },
  limit_field: 'max_tokens',
} as const;

export const effectiveRow = (row: EngineRow): EngineRow => {
  const { balance, slow_start, limit_field } = rowDefaults;
  const retries = { ...rowDefaults.retries, ...row.retries };
  const breaker = { ...rowDefaults.circuit_breaker, ...row.circuit_breaker };
  return {
    ...{ balance, slow_start, limit_field, fan_out_n: false, continues: false },
    ...row,
    timeouts: { ...rowDefaults.timeouts, ...row.timeouts },
    // The usual maximum is no reason to wait for less than the first time.
    retries: {
      ...retries,
      max_backoff: row.retries?.max_backoff ?? longest(retries.backoff, retries.max_backoff),
    },
    circuit_breaker: {
      ...breaker,
      max_cooldown: row.circuit_breaker?.max_cooldown ?? longest(breaker.cooldown, breaker.max_cooldown),
    },
    queue: { ...rowDefaults.queue, ...row.queue },
    ...(row.probe && { probe: { ...rowDefaults.probe, ...row.probe } }),
  };
};
