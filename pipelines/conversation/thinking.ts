/** Decides how long a model thinks: a 400 names what it cannot do. */
import type { Model } from '../../schemas/catalog.ts';
import type { Effort, Thinking } from '../../src/ports/engines/chat.ts';
import { invalid } from '../core/checks.ts';
import type { ChatDraft, ThinkingSettings } from './chat-task.ts';

interface ThinkingRequest {
  readonly effort: Effort | undefined;
  /** The field of the effort, named in errors. */
  readonly field: string;
  /** Thinking was requested without a level. */
  readonly enabled: boolean;
  readonly budget: number | undefined;
  readonly budgetField: string;
  /** A final assistant message is continued: the model has done its thinking. */
  readonly continued: boolean;
}

export const chooseThinking = (model: Model, requested: ThinkingRequest): ThinkingSettings => {
  const { budget, budgetField } = requested;
  const reasoning = model.reasoning;
  if (reasoning === undefined) {
    if (requested.effort !== undefined && requested.effort !== 'none')
      throw invalid(`${requested.field} must be none: model ${model.id} does not reason`);
    return { effort: undefined, active: false, budget, budgetField };
  }
  if (requested.effort !== undefined) checkEffort(model.id, reasoning, requested.effort, requested.field);
  if (requested.continued) {
    // A model that always thinks cannot be set to `none`; a continued message has no place for thinking anyway.
    return { effort: reasoning.mandatory ? undefined : 'none', active: false, budget, budgetField };
  }
  if (requested.effort !== undefined) {
    return { effort: requested.effort, active: requested.effort !== 'none', budget, budgetField };
  }
  if (thinksByDefault(reasoning)) return { effort: undefined, active: true, budget, budgetField };
  return requested.enabled || budget !== undefined
    ? { effort: usualEffort(reasoning), active: true, budget, budgetField }
    : { effort: undefined, active: false, budget, budgetField };
};

type Reasoning = NonNullable<Model['reasoning']>;

export const thinksByDefault = ({ mandatory, default_enabled, default_effort }: Reasoning): boolean =>
  mandatory || (default_enabled !== false && default_effort !== 'none');

const checkEffort = (id: string, reasoning: Reasoning, effort: Effort, field: string): void => {
  if (effort === 'none') {
    if (!reasoning.mandatory) return;
    throw invalid(`${field} must not turn reasoning off: model ${id} always reasons`);
  }
  const supported = reasoning.supported_efforts;
  if (supported === undefined || supported.includes(effort)) return;
  const levels = reasoning.mandatory || supported.includes('none') ? supported : ['none', ...supported];
  throw invalid(`${field} must be one of ${levels.join(', ')} for model ${id}`);
};

const usualEffort = ({ default_effort, supported_efforts }: Reasoning): Effort => {
  if (default_effort !== undefined && default_effort !== 'none') return default_effort;
  const levels = supported_efforts?.filter((effort) => effort !== 'none') ?? [];
  return levels.includes('medium') ? 'medium' : (levels[0] ?? 'medium');
};

/** `:express` thinks for a quarter of the limit: at least this many tokens, but never more than half of it. */
const shortestExpress = 1024;

/** A budget leaves something of the limit to the answer. */
export const checkBudget = ({ active, budget, budgetField }: ThinkingSettings, limit: number): void => {
  if (active && budget !== undefined && budget >= limit)
    throw invalid(`${budgetField} must be below the completion limit of ${limit} tokens`);
};

/** What the engine is sent, once the completion limit is known. `sent` is that limit where estimates shorten it. */
export const budgetThinking = (
  { thinking, model, express }: ChatDraft<unknown>,
  limit: number,
  sent = limit,
): Thinking => {
  const { effort, active, budget } = thinking;
  if (!active) return { effort, budget: undefined };
  checkBudget(thinking, limit);
  if (model.reasoning?.supports_max_tokens !== true) return { effort, budget: undefined };
  if (budget === undefined) return { effort, budget: express ? expressBudget(sent) : undefined };
  return { effort, budget: budget < sent ? budget : Math.max(1, Math.floor(sent / 2)) };
};

const expressBudget = (limit: number): number | undefined => {
  const budget = Math.min(Math.max(shortestExpress, Math.floor(limit / 4)), Math.floor(limit / 2));
  return budget >= 1 ? budget : undefined;
};
