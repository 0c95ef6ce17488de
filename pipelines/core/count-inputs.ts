/** Counts the tokens and inputs of a request for its usage event. */
import { map, mergeMap, of } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { type Account, type Billed, noTokens, usageEvent } from './account.ts';
import type { OfModel } from './admit.ts';
import { countTexts } from './count-texts.ts';
import { mostOfAny, mostTokens } from './most-used.ts';
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
  /** What the model reads at once, one after the other. */
  readonly readings: (task: Task) => readonly Uncounted[];
}

/** Tokens that models put around what they read at once. */
const around = 16;

/** `route` is the path below `/v1`. */
export const inputAccount =
  <Part extends { readonly tokens: number }, Task extends OfModel>(
    offload: Shared<Offload>,
    route: string,
    { inputsOf, readings }: InputRules<Part, Task>,
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
      most: () => {
        const bytes = readings(billed.task).map(mostTokensOf);
        return mostOfAny(billed.task, (model) => {
          const { context_length: window = Number.POSITIVE_INFINITY } = model;
          const tokens = bytes.reduce((sum, each) => sum + Math.min(window, each), 0);
          return mostTokens(model, tokens, 0);
        });
      },
      countPrompt: () => {
        const all = readings(billed.task);
        const texts = all.flatMap((each) => each.texts);
        const beside = all.reduce((sum, { tokens }) => sum + tokens + around, 0);
        const counter = offload.for(billed.caller.subscription);
        return countTexts(counter, texts, billed.task.model.tokenizer).pipe(map((count) => count + beside));
      },
      tokens: () => ({ prompt, completion: 0 }),
      event: (outcome, status) =>
        usageEvent(route, billed, outcome, status, { tokens: { ...noTokens, prompt }, inputs, started }),
    };
  };

/** No token is shorter than a byte. */
const mostTokensOf = ({ texts, tokens }: Uncounted): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), tokens + around);
