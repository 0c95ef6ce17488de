/** What a client wishes about thinking, in; what the model will be told, out. 400 for a level the model does not have. */
import type { Model } from '../../schemas/catalog.ts';
import type { Effort } from '../../src/ports/chat.ts';
import { invalid } from '../core/checks.ts';
import type { ThinkingWish } from './chat-task.ts';

export interface ThinkingAsked {
  readonly effort: Effort | undefined;
  /** The field that said so, named in errors. */
  readonly field: string;
  /** Thinking was asked for without a level. */
  readonly wanted: boolean;
  readonly budget: number | undefined;
  readonly budgetField: string;
  /** A final assistant message is continued: the model is past its thoughts. */
  readonly continued: boolean;
}

export const chooseThinking = (model: Model, asked: ThinkingAsked): ThinkingWish => {
  const { budget, budgetField } = asked;
  const reasoning = model.reasoning;
  if (reasoning === undefined) {
    if (asked.effort !== undefined && asked.effort !== 'none')
      throw invalid(`${asked.field} must be none: model ${model.id} does not reason`);
    return { effort: undefined, active: false, budget, budgetField };
  }
  if (asked.effort !== undefined) checkEffort(model.id, reasoning, asked.effort, asked.field);
  if (asked.continued) {
    // A model that always thinks has no word for "off"; carrying on a message leaves no room for thoughts anyway.
    return { effort: reasoning.mandatory ? undefined : 'none', active: false, budget, budgetField };
  }
  if (asked.effort !== undefined) {
    return { effort: asked.effort, active: asked.effort !== 'none', budget, budgetField };
  }
  const onByDefault =
    reasoning.mandatory || (reasoning.default_enabled !== false && reasoning.default_effort !== 'none');
  if (onByDefault) return { effort: undefined, active: true, budget, budgetField };
  return asked.wanted || budget !== undefined
    ? { effort: usualEffort(reasoning), active: true, budget, budgetField }
    : { effort: undefined, active: false, budget, budgetField };
};

type Reasoning = NonNullable<Model['reasoning']>;

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
