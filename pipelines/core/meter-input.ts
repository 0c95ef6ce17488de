/**
 * The pieces of an answer that costs only what was read in; the same out, their end held until the request's usage
 * event is safe. One event per request, however it ends: completed, failed, or left by the client.
 */
import { defer, type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { holdUntilKept } from './hold-until-kept.ts';
import { type Metered, UsageRecord, usageEvent } from './usage-event.ts';

export interface InputCounts {
  readonly tokens: number;
  /** Texts embedded, questions decided. */
  readonly inputs: number;
}

export const meterInput =
  <T>(
    usage: UsageLog,
    metered: Metered<{ readonly model: Model }>,
    countOf: (piece: T) => InputCounts,
  ): MonoTypeOperatorFunction<T> =>
  (source) =>
    defer(() => {
      const started = performance.now();
      let tokens = 0;
      let inputs = 0;
      const record = new UsageRecord(usage, metered.exchange, {
        event: (outcome, status) =>
          usageEvent(metered, outcome, status, {
            usage: { prompt: tokens, completion: 0, cached: 0, reasoning: 0 },
            inputs,
            delivered: 0,
            started,
            firstToken: undefined,
          }),
      });
      return source.pipe(
        tap((piece) => {
          const counts = countOf(piece);
          tokens += counts.tokens;
          inputs += counts.inputs;
        }),
        holdUntilKept(record),
      );
    });
