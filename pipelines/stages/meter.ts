/**
 * An engine's parts in; the same out, ended by one `usage` or `failure` part that is held until the request's usage
 * event is safe. One event per request, however it ends: completed, failed, or left by the client.
 */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { asApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import type { ChatTask } from './chat-task.ts';
import { Tally } from './tally.ts';
import { type Metered, UsageRecord } from './usage-event.ts';

/** Characters of one request's answers; an engine that says more does not stop by itself. */
const longestAnswer = 64 * 1024 * 1024;

export const meter =
  (usage: UsageLog, metered: Metered<ChatTask<unknown>>): MonoTypeOperatorFunction<Parts> =>
  (source) =>
    new Observable((subscriber) => {
      const tally = new Tally(metered);
      const record = new UsageRecord(usage, metered.exchange, (outcome, status) =>
        tally.event(outcome, status),
      );
      let failure: Extract<Part, { type: 'failure' }> | undefined;

      const last = (part: Part): void => {
        subscriber.next([part]);
        subscriber.complete();
      };

      const end = (): void => {
        const kept = failure ? record.failed(failure.error) : record.completed();
        const ending = failure ?? { type: 'usage', usage: tally.usage() };
        kept.subscribe({
          error: (error) => last({ type: 'failure', error: asApiError(error) }),
          complete: () => last(ending),
        });
      };

      const engine = source.subscribe({
        next: (parts) => {
          if (record.ended) return;
          let ending = false;
          for (const part of parts) {
            tally.add(part);
            if (part.type === 'usage') ending = true;
            else if (part.type === 'failure') {
              ending = true;
              failure = part;
            }
          }
          const rest = ending ? parts.filter(isContent) : parts;
          if (rest.length > 0) subscriber.next(rest);
          if (tally.characters > longestAnswer) {
            failure = { type: 'failure', error: fail('engine_unreachable', 'The model did not stop') };
            end();
          }
        },
        complete: () => {
          if (!record.ended) end();
        },
        error: (error) => {
          const failed = (): void => subscriber.error(error);
          record.failed(error).subscribe({ error: failed, complete: failed });
        },
      });

      return () => {
        engine.unsubscribe();
        record.left();
      };
    });

const isContent = ({ type }: Part): boolean => type !== 'usage' && type !== 'failure';
