/** Checks all of a draft that takes no loading and no counting, before it is admitted: 400 names the field. */
import type { Ports } from '../../src/ports/ports.ts';
import type { ChatDraft } from './chat-task.ts';
import { requestedLimit } from './fit-context.ts';
import { checkPending } from './media-parts.ts';
import { checkBudget } from './thinking.ts';

export type AddressRules = Pick<Ports, 'allowPrivateUrls'>;

export const checkDraft = <Framing>(
  draft: ChatDraft<Framing>,
  addresses: AddressRules,
): ChatDraft<Framing> => {
  if (draft.pending.length > 0) checkPending(draft.pending, draft.promptField, addresses);
  checkBudget(draft.thinking, requestedLimit(draft));
  return draft;
};
