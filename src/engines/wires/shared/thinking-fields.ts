/** Encodes how long a model thinks, in the fields that its row names. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { Thinking } from '../../../ports/engines/chat.ts';

type Body = Record<string, unknown>;

/** In the fields the model's row names; by default in those of the chat-completions API. */
export const addThinkingFields = (body: Body, model: Model, { effort, budget }: Thinking): void => {
  const reasoning = model.reasoning;
  if (reasoning === undefined) return;
  const wire = reasoning.wire ?? { effort_field: 'reasoning_effort' };
  const off = effort === 'none';
  if (effort === undefined && reasoning.default_enabled === false) addSwitchedOff(body, wire);
  if (effort !== undefined) {
    if (wire.enabled_field !== undefined) setField(body, wire.enabled_field, !off);
    if (wire.off_field !== undefined && off) setField(body, wire.off_field, effort);
    const switchSaysOff = off && (wire.enabled_field ?? wire.off_field) !== undefined;
    if (wire.effort_field !== undefined && !switchSaysOff) setField(body, wire.effort_field, effort);
  }
  if (budget === undefined || off) return;
  const budgetField =
    wire.budget_field ?? (reasoning.supports_max_tokens === true ? 'reasoning.max_tokens' : undefined);
  if (budgetField !== undefined) setField(body, budgetField, budget);
};

/** A server may think by default where the model's row says it does not; what the client forwards to it stays. */
const addSwitchedOff = (body: Body, { enabled_field, off_field }: ReasoningWire): void => {
  if (enabled_field !== undefined && !hasField(body, enabled_field)) setField(body, enabled_field, false);
  if (off_field !== undefined && !hasField(body, off_field)) setField(body, off_field, 'none');
};

type ReasoningWire = NonNullable<NonNullable<Model['reasoning']>['wire']>;

const hasField = (body: Body, path: string): boolean => {
  let target: unknown = body;
  for (const name of path.split('.')) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) return false;
    target = (target as Body)[name];
  }
  return true;
};

/** `chat_template_kwargs.enable_thinking` sets a field of an inner object, created where missing. */
const setField = (body: Body, path: string, value: unknown): void => {
  const names = path.split('.');
  const last = names.pop() ?? path;
  let target = body;
  for (const name of names) {
    const inner = Object.hasOwn(target, name) ? target[name] : undefined;
    const next: Body = typeof inner === 'object' && inner !== null ? { ...inner } : {};
    target[name] = next;
    target = next;
  }
  target[last] = value;
};
