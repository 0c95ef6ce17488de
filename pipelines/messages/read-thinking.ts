/** Reads `thinking` and `output_config.effort` of a messages request: 400 for what the model lacks. */
import type { Model } from '../../schemas/catalog.ts';
import type { CountTokensRequest } from '../../schemas/messages/request.ts';
import type { Effort } from '../../src/ports/engines/chat.ts';
import type { ThinkingSettings } from '../conversation/chat-task.ts';
import { chooseThinking, thinksByDefault } from '../conversation/thinking.ts';
import { invalid } from '../core/checks.ts';

const budgetField = 'thinking.budget_tokens';

interface Limits {
  /** Undefined where nothing is to be generated. */
  readonly maxTokens: number | undefined;
  readonly continued: boolean;
  readonly express: boolean;
}

export const readMessagesThinking = (
  { thinking, output_config }: Pick<CountTokensRequest, 'thinking' | 'output_config'>,
  model: Model,
  { maxTokens, continued, express }: Limits,
): ThinkingSettings => {
  // Agents send an effort whatever the model is.
  const effort = model.reasoning === undefined ? undefined : output_config?.effort;
  if (effort !== undefined) checkEffort(model, effort);
  if (thinking?.type === 'enabled') checkBudget(model, thinking.budget_tokens, maxTokens);
  const disabled = thinking?.type === 'disabled';
  if (disabled && thinking.display !== undefined)
    throw invalid('thinking.display must not be set when thinking is disabled');
  const off = disabled || (thinking === undefined && effort === undefined && canBeOff(model, express));
  return chooseThinking(model, {
    effort: off ? 'none' : effort,
    field: off ? 'thinking.type' : 'output_config.effort',
    enabled: thinking !== undefined && !off,
    budget: thinking?.type === 'enabled' ? thinking.budget_tokens : undefined,
    budgetField,
    continued,
  });
};

/** Whether reasoning is switched off for a model that thinks by default; `:express` derives a budget instead. */
const canBeOff = ({ reasoning }: Model, express: boolean): boolean =>
  reasoning !== undefined &&
  !reasoning.mandatory &&
  thinksByDefault(reasoning) &&
  !(express && reasoning.supports_max_tokens === true);

/** Not left to the common rule, whose levels include `none`: this format has another field for that. */
const checkEffort = ({ id, reasoning }: Model, effort: Effort): void => {
  const levels = reasoning?.supported_efforts;
  if (levels === undefined || levels.includes(effort)) return;
  const choice = levels.filter((level) => level !== 'none').join(', ');
  throw invalid(`output_config.effort must be one of ${choice} for model ${id}`);
};

const checkBudget = (
  { id, reasoning }: Model,
  budget: number | undefined,
  maxTokens: number | undefined,
): void => {
  if (reasoning?.supports_max_tokens !== true)
    throw invalid(`thinking.type must not be enabled: model ${id} does not enforce thinking budgets`);
  if (budget === undefined) throw invalid(`${budgetField} is required when thinking is enabled`);
  if (maxTokens !== undefined && budget >= maxTokens)
    throw invalid(`${budgetField} must be below max_tokens`);
};
