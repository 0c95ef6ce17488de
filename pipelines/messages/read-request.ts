/** Reads a messages request into a draft of the engine call: 400 names the field. */
import { map } from 'rxjs';
import type { MessagesRequest } from '../../schemas/messages/request.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Signer, Signing } from '../../src/signatures/signing.ts';
import { type ChatDraft, noStop, unresolvedThinking, unresolvedTokens } from '../conversation/chat-task.ts';
import { type AddressRules, checkDraft } from '../conversation/check-draft.ts';
import type { PendingMedia } from '../conversation/media-parts.ts';
import { readOtherFields } from '../conversation/other-fields.ts';
import { readSampling } from '../conversation/read-sampling.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import type { Step } from '../core/stage.ts';
import { readMessagesPrompt } from './read-prompt.ts';
import { messagesFields } from './refuse-unsupported.ts';

export interface MessagesFraming {
  /** Thinking is signed, but not shown. */
  readonly hidesThinking: boolean;
  readonly signer: Signer;
}

export const readMessagesRequest =
  (
    addresses: AddressRules,
    signing: Signing,
  ): Step<ResolvedRequest<MessagesRequest>, ChatDraft<MessagesFraming>, Pick<KeyedRequest, 'exchange'>> =>
  (resolved, { exchange }) =>
    signing().pipe(map((signer) => checkDraft(readDraft(resolved, exchange.body.length, signer), addresses)));

const readDraft = (
  resolved: ResolvedRequest<MessagesRequest>,
  bodyLength: number | undefined,
  signer: Signer,
): ChatDraft<MessagesFraming> => {
  const pending: PendingMedia[] = [];
  const { body, model, variant } = resolved;
  const forwarded = readOtherFields(messagesFields, body, model);
  const unseal = (signature: string) => signer.unseal(signature, model);
  const prompt = readMessagesPrompt(resolved, pending, body.max_tokens, unseal);
  return {
    model,
    express: variant === 'express',
    promptField: 'messages',
    call: {
      messages: prompt.messages,
      stream: body.stream ?? false,
      maxTokens: unresolvedTokens,
      n: 1,
      continueFinal: prompt.continued,
      thinking: unresolvedThinking,
      sampling: readSampling(body, model),
      stop: body.stop_sequences ?? noStop,
      logprobs: undefined,
      tools: prompt.tools,
      toolChoice: prompt.toolChoice,
      parallelToolCalls: prompt.parallelToolCalls,
      format: prompt.format,
      user: body.metadata?.user_id,
      forwarded,
    },
    limit: body.max_tokens,
    thinking: prompt.thinking,
    // Clients that do not ask for thinking read the first block as text.
    hidesReasoning: body.thinking === undefined || body.thinking.type === 'disabled',
    pending,
    textBytes: pending.length === 0 ? bodyLength : undefined,
    framing: { hidesThinking: body.thinking?.display === 'omitted', signer },
  };
};
