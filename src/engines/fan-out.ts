/** Turns a call for n answers into n calls whose parts are merged. */
import { defer, finalize, map, merge, Observable, type OperatorFunction } from 'rxjs';
import { asApiError } from '../errors.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { ChatCall, Part, Parts, TokenUsage } from '../ports/chat.ts';
import type { Flow } from '../ports/engine.ts';

export const fanOut = (
  call: ChatCall,
  flow: Flow,
  answer: (call: ChatCall, flow: Flow) => Observable<Parts>,
): Observable<Parts> =>
  sharedBackpressure(flow.backpressure, call.n, (backpressure, choice) =>
    answer(single(call, choice), { ...flow, backpressure }).pipe(
      map((parts) => parts.map((part) => renumbered(part, choice))),
    ),
  ).pipe(asOneAnswer(call.n));

/** Merges so many streams; pausing the reader pauses all of them. */
export const sharedBackpressure = <Out>(
  backpressure: Backpressure,
  count: number,
  streamOf: (backpressure: Backpressure, index: number) => Observable<Out>,
): Observable<Out> =>
  defer(() => {
    const each = Array.from({ length: count }, () => new Backpressure());
    const all = {
      pause: () => {
        for (const one of each) one.pause();
      },
      resume: () => {
        for (const one of each) one.resume();
      },
    };
    backpressure.attach(all);
    return merge(...each.map(streamOf)).pipe(finalize(() => backpressure.detach(all)));
  });

/** With one seed for all, every answer would be the same. */
const single = (call: ChatCall, choice: number): ChatCall => ({
  ...call,
  n: 1,
  sampling:
    call.sampling.seed === undefined
      ? call.sampling
      : { ...call.sampling, seed: call.sampling.seed + choice },
});

const renumbered = (part: Part, choice: number): Part => {
  if (!('choice' in part)) return part;
  // Its text need not be a property of its own.
  return part.type === 'text' ? { ...part, text: part.text, choice } : { ...part, choice };
};

/** Usage is summed and comes last, only when every answer reported its own; the first failure ends all. */
const asOneAnswer =
  (answers: number): OperatorFunction<Parts, Parts> =>
  (source) =>
    new Observable((subscriber) => {
      const usages: TokenUsage[] = [];
      let emitted = false;
      return source.subscribe({
        next: (parts) => {
          for (const part of parts) if (part.type === 'usage') usages.push(part.usage);
          const kept = parts.filter((part) => part.type !== 'usage');
          if (kept.length === 0) return;
          emitted = true;
          subscriber.next(kept);
          if (kept.at(-1)?.type === 'failure') subscriber.complete();
        },
        error: (thrown: unknown) => {
          if (!emitted) {
            subscriber.error(thrown);
            return;
          }
          subscriber.next([{ type: 'failure', error: asApiError(thrown) }]);
          subscriber.complete();
        },
        complete: () => {
          if (usages.length === answers) subscriber.next([{ type: 'usage', usage: usages.reduce(total) }]);
          subscriber.complete();
        },
      });
    });

/** The prompt counts once, as when the engine makes n answers itself. */
const total = (sum: TokenUsage, next: TokenUsage): TokenUsage => ({
  prompt: sum.prompt,
  cached: sum.cached,
  completion: sum.completion + next.completion,
  reasoning: sum.reasoning + next.reasoning,
});
