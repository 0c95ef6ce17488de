/** A task in; its answers out as they are decided, each with the tokens it took: the engine's count, else our own. 502 529. */
import { defer, map, mergeMap, type Observable, of } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Decided } from '../../src/ports/decision.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { countTexts } from '../core/count-texts.ts';
import type { DecisionTask } from './read-request.ts';

export interface CountedDecision extends Decided {
  readonly tokens: number;
}

export const callDecisions = (
  { engines, usage, offload }: Pick<Ports, 'engines' | 'usage' | 'offload'>,
  { id: requestId, backpressure, trace }: Exchange,
  { subscription }: Caller,
  { model, call }: DecisionTask,
): Observable<CountedDecision> =>
  defer(() => {
    usage.ensureOpen();
    const engine = engines.of(model);
    if (engine.decide === undefined)
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine decides nothing`);
    return engine.decide(model, call, { requestId, subscription, backpressure, trace });
  }).pipe(
    mergeMap((decided) => {
      if (isCounted(decided)) return of(decided);
      const texts = [call.context, call.questions[decided.question]?.prompt ?? ''];
      return countTexts(offload, texts, model.tokenizer).pipe(map((tokens) => ({ ...decided, tokens })));
    }),
  );

const isCounted = (decided: Decided): decided is CountedDecision => decided.tokens !== undefined;
