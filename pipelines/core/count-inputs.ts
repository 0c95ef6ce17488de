/** Counts what a request gives a model to read: its tokens and its inputs, for its usage event. */
import { map, mergeMap, of } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Offload } from '../../src/ports/offload.ts';
import { type Account, type Billed, noTokens, type Outcome, usageEvent } from './account.ts';
import { countTexts } from './count-texts.ts';
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
  offload: Offload,
  uncounted: (part: Part, task: Task) => Uncounted | undefined,
): Transform<Part, Counted<Part>, { readonly task: Task }> =>
  fromOperator(({ task }) =>
    mergeMap((part) => {
      const rest = uncounted(part, task);
      if (rest === undefined) return of(part as Counted<Part>);
      return countTexts(offload, rest.texts, task.model.tokenizer).pipe(
        map((tokens) => ({ ...part, tokens: tokens + rest.tokens })),
      );
    }),
  );

/** `route` is the path below `/v1`; `inputsOf` says how many inputs a part belongs to. */
export const inputAccount =
  <Part extends { readonly tokens: number }>(route: string, inputsOf: (part: Part) => number) =>
  (billed: Billed): Account<Part> =>
    new InputAccount(route, billed, inputsOf);

class InputAccount<Part extends { readonly tokens: number }> implements Account<Part> {
  readonly #route: string;
  readonly #billed: Billed;
  readonly #inputsOf: (part: Part) => number;
  readonly #started = performance.now();
  #tokens = 0;
  #inputs = 0;

  constructor(route: string, billed: Billed, inputsOf: (part: Part) => number) {
    this.#route = route;
    this.#billed = billed;
    this.#inputsOf = inputsOf;
  }

  add(part: Part): void {
    this.#tokens += part.tokens;
    this.#inputs += this.#inputsOf(part);
  }

  event(outcome: Outcome, status: number): UsageEvent {
    return usageEvent(this.#route, this.#billed, outcome, status, {
      tokens: { ...noTokens, prompt: this.#tokens },
      inputs: this.#inputs,
      started: this.#started,
    });
  }
}
