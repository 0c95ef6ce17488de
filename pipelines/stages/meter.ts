/**
 * An engine's parts in; the same out, ended by one `usage` or `failure` part that is held until the request's usage
 * event is safe. One event per request, however it ends: completed, failed, or left by the client.
 */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { asApiError } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { type Metered, Tally } from './tally.ts';

/** What the log says of a client that closed the connection; no answer carries it. */
const clientClosed = 499;

export const meter =
  (usage: UsageLog, metered: Metered): MonoTypeOperatorFunction<Parts> =>
  (source) =>
    new Observable((subscriber) => {
      const tally = new Tally(metered);
      let failure: Extract<Part, { type: 'failure' }> | undefined;
      let ended = false;

      const endWith = (last: Part): void => {
        subscriber.next([last]);
        subscriber.complete();
      };

      const engine = source.subscribe({
        next: (parts) => {
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
        },
        complete: () => {
          ended = true;
          const event = failure ? tally.event('failed', failure.error.status) : tally.event('completed', 200);
          const last = failure ?? { type: 'usage', usage: tally.usage() };
          // Not undone when the client leaves now: the event is on its way.
          usage.record(event).subscribe({
            error: (error) => endWith({ type: 'failure', error: asApiError(error) }),
            complete: () => endWith(last),
          });
        },
        error: (error) => {
          ended = true;
          const fail = (): void => subscriber.error(error);
          usage
            .record(tally.event('failed', asApiError(error).status))
            .subscribe({ error: fail, complete: fail });
        },
      });

      return () => {
        engine.unsubscribe();
        if (ended) return;
        ended = true;
        usage.record(tally.event('cancelled', clientClosed)).subscribe({
          error: (error) =>
            metered.exchange.log.error({ err: error }, 'usage of a cancelled request was not kept'),
        });
      };
    });

const isContent = ({ type }: Part): boolean => type !== 'usage' && type !== 'failure';
