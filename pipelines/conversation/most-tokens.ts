/** The most tokens that a conversation can use: its prompt as bytes, its completion as it is limited. */
import type { MostUsed } from '../../src/ports/quotas.ts';
import { mostPromptTokens } from '../../src/tokens/prompt.ts';
import type { Fallible } from '../core/fallbacks.ts';
import { mostOfAny, mostTokens } from '../core/most-used.ts';
import { limitFor } from './fit-context.ts';
import type { CountedTask } from './token-account.ts';

export const mostOfConversation = (task: CountedTask & Fallible<unknown>): MostUsed => {
  const { model, call } = task;
  const choices = call.n * ('prompts' in call ? call.prompts.length : 1);
  return mostOfAny(task, (each) => {
    const limit = each === model ? call.maxTokens : limitFor(each, task.limit);
    return mostTokens(each, mostPromptTokens(call, each.context_length), limit * choices);
  });
};
