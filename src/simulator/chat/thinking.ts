/** Decides how many tokens a model reasons for a call. */
import type { Model } from '../../../schemas/catalog.ts';
import type { ChatCall, Effort } from '../../ports/chat.ts';

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

/** `directed` is the length a directive sets, also for a model that otherwise does not reason. */
export function thinkingTokens(model: ThinkingModel, call: ChatCall, directed: number | undefined): number {
  const { reasoning } = model;
  const { effort, budget } = call.thinking;
  if (call.continueFinal) return 0;
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
