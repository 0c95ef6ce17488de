/** Decides how many tokens a model reasons for a call. */
import type { Model } from '../../../schemas/catalog.ts';
import type { ChatCall, Effort } from '../../ports/engines/chat.ts';
import { countTokens } from '../../tokens/simulator.ts';
import type { Conversation } from './conversation.ts';

const lengths: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 8,
  low: 16,
  medium: 32,
  high: 64,
  xhigh: 96,
  max: 128,
  ultra: 192,
};

export const efforts: readonly string[] = Object.keys(lengths);

/** All the simulator asks of a model. */
export type ThinkingModel = Pick<Model, 'reasoning'>;

/** A directive sets the length also for a model that otherwise does not reason. What was thought before counts. */
export function thinkingTokens(
  model: ThinkingModel,
  call: ChatCall,
  { directives: { reasoning: directed }, begunThought }: Pick<Conversation, 'directives' | 'begunThought'>,
): number {
  const { reasoning } = model;
  const { effort } = call.thinking;
  if (call.continueFinal && begunThought === undefined) return 0;
  // The budget is that of the rest.
  const before = countTokens(begunThought ?? '');
  const budget = call.thinking.budget === undefined ? undefined : call.thinking.budget + before;
  if (effort === 'none' && reasoning?.mandatory !== true) return 0;
  const limit =
    reasoning?.supports_max_tokens === true ? (budget ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  if (directed !== undefined) return Math.min(directed, limit);
  if (reasoning === undefined) return 0;
  const asked = (effort !== undefined && effort !== 'none') || budget !== undefined;
  if (!asked && !reasoning.mandatory && reasoning.default_enabled === false) return 0;
  const chosen = effort === undefined || effort === 'none' ? (reasoning.default_effort ?? 'medium') : effort;
  return Math.min(lengths[chosen], limit);
}
