/** Counts the tokens and inputs of a request for its usage event. */
import { map, mergeMap, of } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { type Account, type Billed, noTokens, usageEvent } from './account.ts';
import type { OfModel } from './admit.ts';
import { countTexts } from './count-texts.ts';
import { mostOfAny, mostTokens as tokensCost } from './most-used.ts';
import { fromOperator, type Transform } from './stage.ts';

export type Counted<Part> = Part & { readonly tokens: number };

/** What is left to count of a part: texts, and tokens that the client sent as such. */
export interface Uncounted {
  readonly texts: readonly string[];
  readonly tokens: number;
}

/** Counts the tokens that an engine did not report. */
export const countTokens = <
  Part extends { readonly tokens: number | undefined },
  Task extends { readonly model: Model },
>(
  offload: Shared<Offload>,
  uncounted: (part: Part, task: Task) => Uncounted | undefined,
): Transform<Part, Counted<Part>, { readonly task: Task } & Pick<KeyedRequest, 'caller'>> =>
  fromOperator(({ task, caller }) =>
    mergeMap((part) => {
      const rest = uncounted(part, task);
      if (rest === undefined) return of(part as Counted<Part>);
      return countTexts(offload.for(caller.subscription), rest.texts, task.model.tokenizer).pipe(
        map((tokens) => ({ ...part, tokens: tokens + rest.tokens })),
      );
    }),
  );

interface InputRules<Part, Task> {
  /** How many inputs a part belongs to. */
  readonly inputsOf: (part: Part) => number;
  /** No fewer than an engine may count where it reads up to `window` at once. */
  readonly mostTokens: (task: Task, window: number) => number;
}

/** `route` is the path below `/v1`. */
export const inputAccount =
  <Part extends { readonly tokens: number }, Task extends OfModel>(
    route: string,
    { inputsOf, mostTokens }: InputRules<Part, Task>,
  ) =>
  (billed: Billed<Task>): Account<Part> => {
    const started = performance.now();
    let prompt = 0;
    let inputs = 0;
    return {
      add: (part) => {
        prompt += part.tokens;
        inputs += inputsOf(part);
      },
      most: () =>
        mostOfAny(billed.task, (model) =>
          tokensCost(model, mostTokens(billed.task, model.context_length ?? Number.POSITIVE_INFINITY), 0),
        ),
      tokens: () => ({ prompt, completion: 0 }),
      event: (outcome, status) =>
        usageEvent(route, billed, outcome, status, { tokens: { ...noTokens, prompt }, inputs, started }),
    };
  };
