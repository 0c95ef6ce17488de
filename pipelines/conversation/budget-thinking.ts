/** A draft and its settled completion limit in; what the engine is told about thinking out. 400 for a budget that leaves no answer. */
import type { Thinking } from '../../src/ports/chat.ts';
import { invalid } from '../core/checks.ts';
import type { ChatDraft } from './chat-task.ts';

/** `:express` thinks for a quarter of the limit: at least this long, but never more than half of it. */
const shortestExpress = 1024;

export const budgetThinking = ({ thinking, model, express }: ChatDraft<unknown>, limit: number): Thinking => {
  const { effort, active, budget, budgetField } = thinking;
  if (!active) return { effort, budget: undefined };
  if (budget !== undefined && budget >= limit)
    throw invalid(`${budgetField} must be below the completion limit of ${limit} tokens`);
  if (model.reasoning?.supports_max_tokens !== true) return { effort, budget: undefined };
  return { effort, budget: budget ?? (express ? expressBudget(limit) : undefined) };
};

const expressBudget = (limit: number): number | undefined => {
  const budget = Math.min(Math.max(shortestExpress, Math.floor(limit / 4)), Math.floor(limit / 2));
  return budget >= 1 ? budget : undefined;
};
