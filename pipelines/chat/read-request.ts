/** Reads a chat request into a draft of the engine call: 400 names the field. */

import type { ChatRequest } from '../../schemas/chat/request.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import {
  type ChatDraft,
  noStop,
  type ThinkingSettings,
  unresolvedThinking,
  unresolvedTokens,
} from '../conversation/chat-task.ts';
import { type AddressRules, checkDraft } from '../conversation/check-draft.ts';
import { continueFinal } from '../conversation/continue-final.ts';
import type { PendingMedia } from '../conversation/media-parts.ts';
import { readOtherFields } from '../conversation/other-fields.ts';
import { readSampling } from '../conversation/read-sampling.ts';
import { chooseThinking } from '../conversation/thinking.ts';
import { invalid } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import { resumption } from '../core/resumable.ts';
import { chatFields } from './other-fields.ts';
import { readMessages } from './read-messages.ts';
import { readFormat, readToolChoice, readTools } from './read-tools.ts';

export interface ChatFraming {
  /** Usage comes in a chunk of its own. */
  readonly includeUsage: boolean;
  /** Further fields of the response as JSON, each after a comma. */
  readonly extra?: string;
}

export const readChatRequest =
  (addresses: AddressRules) =>
  (resolved: ResolvedRequest<ChatRequest>, { exchange }: Pick<KeyedRequest, 'exchange'>) =>
    checkDraft(readDraft(resolved, exchange.body.length), addresses);

const readDraft = (
  { body, model, variant }: ResolvedRequest<ChatRequest>,
  bodyLength: number | undefined,
): ChatDraft<ChatFraming> => {
  const pending: PendingMedia[] = [];
  const forwarded = readOtherFields(chatFields, body, model);
  const { messages, continued } = continueFinal(
    readMessages(body.messages, { model, pending }),
    body.continue_final_message ?? false,
  );
  const tools = readTools(body.tools);
  const sampling = readSampling(body, model);
  const stop = readStop(body.stop);
  const logprobs = readLogprobs(body);
  const toolChoice = readToolChoice(body.tool_choice, tools);
  const format = readFormat(body.response_format);
  return {
    model,
    express: variant === 'express',
    promptField: 'messages',
    call: {
      messages,
      stream: body.stream ?? false,
      maxTokens: unresolvedTokens,
      n: body.n ?? 1,
      continueFinal: continued,
      thinking: unresolvedThinking,
      sampling,
      stop,
      logprobs,
      tools,
      toolChoice,
      parallelToolCalls: body.parallel_tool_calls,
      format,
      user: body.user,
      forwarded,
    },
    limit: body.max_completion_tokens ?? body.max_tokens,
    thinking: readThinking(body, model, continued),
    hidesReasoning: body.include_reasoning === false || body.reasoning?.exclude === true,
    pending,
    textBytes: pending.length === 0 ? bodyLength : undefined,
    resumable: body.stream_options?.resumable === true ? resumption : undefined,
    framing: { includeUsage: body.stream_options?.include_usage ?? false },
  };
};

export const readThinking = (
  { reasoning, reasoning_effort }: Pick<ChatRequest, 'reasoning' | 'reasoning_effort'>,
  model: ResolvedRequest<ChatRequest>['model'],
  continued: boolean,
): ThinkingSettings => {
  const field = effortField(reasoning);
  return chooseThinking(model, {
    effort: field === 'reasoning.enabled' ? 'none' : (reasoning?.effort ?? reasoning_effort),
    field,
    enabled: reasoning?.enabled === true,
    budget: reasoning?.max_tokens,
    budgetField: 'reasoning.max_tokens',
    continued,
  });
};

/** `enabled: false` beats a level beside it, the object beats the shorthand. */
const effortField = (reasoning: ChatRequest['reasoning']): string => {
  if (reasoning?.enabled === false) return 'reasoning.enabled';
  return reasoning?.effort === undefined ? 'reasoning_effort' : 'reasoning.effort';
};

export const readStop = (stop: ChatRequest['stop']): readonly string[] => {
  if (stop === undefined) return noStop;
  const sequences = typeof stop === 'string' ? [stop] : stop;
  const blank = sequences.indexOf('');
  if (blank !== -1) throw invalid(`stop${typeof stop === 'string' ? '' : `[${blank}]`} must not be empty`);
  return sequences;
};

const readLogprobs = ({ logprobs, top_logprobs }: ChatRequest): { readonly top: number } | undefined => {
  if (logprobs === true) return { top: top_logprobs ?? 0 };
  if (top_logprobs !== undefined) throw invalid('top_logprobs needs logprobs to be true');
  return undefined;
};
