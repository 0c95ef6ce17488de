/** Turns a call for several answers into as many calls, whose parts are merged. */
import { defer, finalize, map, merge, Observable, type OperatorFunction } from 'rxjs';
import { asApiError } from '../../errors.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { ChatCall, Part, Parts, Sampling, TokenUsage } from '../../ports/engines/chat.ts';
import type { CompletionCall } from '../../ports/engines/completion.ts';
import type { Flow } from '../../ports/engines/engine.ts';

/** A call for one answer. */
export interface Single<Call> {
  readonly call: Call;
  /** The first of its prompt, which counts once. */
  readonly countsPrompt: boolean;
}

/** `singles`: a call for each choice. */
export const fanOut = <Call>(
  singles: readonly Single<Call>[],
  flow: Flow,
  answer: (call: Call, flow: Flow) => Observable<Parts>,
): Observable<Parts> =>
  sharedBackpressure(flow.backpressure, singles, (backpressure, single, choice) =>
    answer(single.call, { ...flow, backpressure }).pipe(
      map((parts) => parts.map((part) => renumbered(part, choice, single.countsPrompt))),
    ),
  ).pipe(asOneAnswer(singles.length));

export const chatSingles = (call: ChatCall): readonly Single<ChatCall>[] =>
  Array.from({ length: call.n }, (_, choice) => ({
    call: { ...call, n: 1, sampling: seeded(call.sampling, choice) },
    countsPrompt: choice === 0,
  }));

export const completionSingles = (call: CompletionCall): readonly Single<CompletionCall>[] =>
  call.prompts.flatMap((prompt) =>
    Array.from({ length: call.n }, (_, choice) => ({
      call: { ...call, prompts: [prompt], n: 1, sampling: seeded(call.sampling, choice) },
      countsPrompt: choice === 0,
    })),
  );

/** Merges a stream of each item; pausing the reader pauses all of them. */
export const sharedBackpressure = <Item, Out>(
  backpressure: Backpressure,
  items: readonly Item[],
  streamOf: (backpressure: Backpressure, item: Item, index: number) => Observable<Out>,
): Observable<Out> =>
  defer(() => {
    const each = items.map((item) => ({ item, backpressure: new Backpressure() }));
    const all = {
      pause: () => {
        for (const one of each) one.backpressure.pause();
      },
      resume: () => {
        for (const one of each) one.backpressure.resume();
      },
    };
    backpressure.attach(all);
    const streams = each.map((one, index) => streamOf(one.backpressure, one.item, index));
    return merge(...streams).pipe(finalize(() => backpressure.detach(all)));
  });

/** With one seed for all, every answer would be the same. */
const seeded = (sampling: Sampling, choice: number): Sampling =>
  sampling.seed === undefined ? sampling : { ...sampling, seed: sampling.seed + choice };

const renumbered = (part: Part, choice: number, countsPrompt: boolean): Part => {
  if (part.type === 'usage')
    return countsPrompt ? part : { type: 'usage', usage: { ...part.usage, prompt: 0, cached: 0 } };
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
          for (const part of parts) if (part.type === 'usage' && part.soFar !== true) usages.push(part.usage);
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

const total = (sum: TokenUsage, next: TokenUsage): TokenUsage => ({
  prompt: sum.prompt + next.prompt,
  cached: sum.cached + next.cached,
  completion: sum.completion + next.completion,
  reasoning: sum.reasoning + next.reasoning,
});
