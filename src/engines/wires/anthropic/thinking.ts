/** Encodes how long a model thinks, in the format's own fields or in those that the model's row names. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { ChatCall, Effort } from '../../../ports/engines/chat.ts';
import { addThinkingFields } from '../shared/thinking-fields.ts';

export type Body = Record<string, unknown>;

type Reasoning = NonNullable<Model['reasoning']>;

/** The least that the format takes. */
const leastBudget = 1024;

/** Of the completion limit, for models that know budgets but no levels. */
const shares: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
  ultra: 0.95,
};

export const addThinking = (body: Body, model: Model, call: ChatCall): void => {
  const { reasoning } = model;
  const { effort, budget } = call.thinking;
  if (reasoning === undefined) return;
  const { wire } = reasoning;
  if (wire !== undefined) {
    const ownField = wire.budget_field !== undefined;
    addThinkingFields(body, model, { effort, budget: ownField ? budget : undefined });
    if (budget !== undefined && effort !== 'none' && !ownField) addBudget(body, budget, call);
  } else if (effort === 'none') body.thinking = { type: 'disabled' };
  else if (budget !== undefined) addBudget(body, budget, call);
  else if (effort !== undefined) addEffort(body, reasoning, effort, call);
};

const addEffort = (
  body: Body,
  reasoning: Reasoning,
  effort: Exclude<Effort, 'none'>,
  call: ChatCall,
): void => {
  if (reasoning.supports_max_tokens === true && !hasLevels(reasoning)) {
    addBudget(body, Math.floor(shares[effort] * call.maxTokens), call);
    return;
  }
  body.thinking = { type: 'adaptive' };
  body.output_config = { ...(body.output_config as Body | undefined), effort };
};

const hasLevels = ({ supported_efforts = [] }: Reasoning): boolean =>
  supported_efforts.some((level) => level !== 'none');

/** Left out where the format would refuse it: below a limit that leaves no room, and where the thoughts of a tool call are missing. */
const addBudget = (body: Body, budget: number, call: ChatCall): void => {
  const tokens = Math.max(budget, leastBudget);
  if (tokens < call.maxTokens && !lacksThoughts(call))
    body.thinking = { type: 'enabled', budget_tokens: tokens };
};

/** The model is amid tool calls, and the client has not returned what it thought before them: most formats cannot. */
const lacksThoughts = ({ messages }: ChatCall): boolean => {
  if (messages.at(-1)?.role !== 'tool') return false;
  const caller = messages.findLast(({ role }) => role === 'assistant');
  return caller?.role === 'assistant' && (caller.thoughts ?? []).length === 0;
};
