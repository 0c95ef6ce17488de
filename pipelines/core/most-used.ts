/** The most that a call can use, whichever of its model's fallbacks answers. */
import type { Model } from '../../schemas/catalog.ts';
import { mostTokenCost } from '../../src/billing/cost.ts';
import { nanodollars } from '../../src/helpers/decimal.ts';
import type { MostUsed } from '../../src/ports/quotas.ts';
import type { Fallible } from './fallbacks.ts';

interface ModelTask extends Fallible<unknown> {
  readonly model: Model;
}

/** `mostOf` is asked for the model of the task, and for each fallback that is served now. */
export const mostOfAny = (task: ModelTask, mostOf: (model: Model) => MostUsed): MostUsed => {
  const most = mostOf(task.model);
  if (task.fallbacks === undefined) return most;
  return fallbacksOf(task).map(mostOf).reduce(larger, most);
};

const fallbacksOf = ({ fallbacks }: ModelTask): readonly Model[] => {
  try {
    return fallbacks?.models() ?? [];
  } catch {
    // It is not known what is served now: one that takes over later has to be within what is reserved.
    return [];
  }
};

const larger = (one: MostUsed, other: MostUsed): MostUsed => ({
  prompt: Math.max(one.prompt, other.prompt),
  completion: Math.max(one.completion, other.completion),
  cost: Math.max(one.cost, other.cost),
});

export const mostTokens = (model: Model, prompt: number, completion: number): MostUsed => ({
  prompt,
  completion,
  cost: nanodollars(mostTokenCost(prompt, completion, model.pricing)),
});

/** Of a call that is billed by something else than tokens; dollars. */
export const mostCost = (cost: string): MostUsed => ({ prompt: 0, completion: 0, cost: nanodollars(cost) });
