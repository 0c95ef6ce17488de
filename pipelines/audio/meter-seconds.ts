/**
 * The pieces of an answer that is billed by the second in; the same out, their end held until the request's usage
 * event is safe. One event per request, however it ends: completed, failed, or left by the client.
 */
import { defer, type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { holdUntilKept } from '../core/hold-until-kept.ts';
import { type Metered, UsageRecord, usageEvent } from '../core/usage-event.ts';

/** `secondsOf` is asked once, at the end: whole seconds made or read by then; `answered` tells whether anything came. */
export const meterSeconds =
  <T>(
    usage: UsageLog,
    metered: Metered<{ readonly model: Model }>,
    secondsOf: (answered: boolean) => number,
  ): MonoTypeOperatorFunction<T> =>
  (source) =>
    defer(() => {
      const started = performance.now();
      let first: number | undefined;
      const record = new UsageRecord(usage, metered.exchange, {
        event: (outcome, status) =>
          usageEvent(metered, outcome, status, {
            usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 },
            seconds: secondsOf(first !== undefined || outcome === 'completed'),
            delivered: 0,
            started,
            firstToken: first,
          }),
      });
      return source.pipe(
        tap(() => {
          first ??= performance.now();
        }),
        holdUntilKept(record),
      );
    });
