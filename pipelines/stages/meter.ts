/**
 * An engine's parts in; the same out, ended by one `usage` or `failure` part that is held until the request's usage
 * event is safe. One event per request, however it ends: completed, failed, or left by the client.
 */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { asApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { type Metered, Tally } from './tally.ts';

/** What the log says of a client that closed the connection; no answer carries it. */
const clientClosed = 499;

/** Characters of one request's answers; an engine that says more does not stop by itself. */
const longestAnswer = 64 * 1024 * 1024;

export const meter =
  (usage: UsageLog, metered: Metered): MonoTypeOperatorFunction<Parts> =>
  (source) =>
    new Observable((subscriber) => {
      const tally = new Tally(metered);
      let failure: Extract<Part, { type: 'failure' }> | undefined;
      let ended = false;

      const last = (part: Part): void => {
        subscriber.next([part]);
        subscriber.complete();
      };

      const end = (): void => {
        ended = true;
        const event = failure ? tally.event('failed', failure.error.status) : tally.event('completed', 200);
        const ending = failure ?? { type: 'usage', usage: tally.usage() };
        // Not undone when the client leaves now: the event is on its way.
        usage.record(event).subscribe({
          error: (error) => last({ type: 'failure', error: asApiError(error) }),
          complete: () => last(ending),
        });
      };

      const engine = source.subscribe({
        next: (parts) => {
          if (ended) return;
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
          if (!ended) end();
        },
        error: (error) => {
          ended = true;
          const failed = (): void => subscriber.error(error);
          const event = tally.event('failed', asApiError(error).status);
          usage.record(event).subscribe({ error: failed, complete: failed });
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
