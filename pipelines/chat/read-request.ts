/** Reads a chat request into a draft of the engine call: 400 names the field. */

import type { ChatRequest } from '../../schemas/chat.ts';
import type { Sampling } from '../../src/ports/chat.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import {
  type ChatDraft,
  noStop,
  type ThinkingSettings,
  unresolvedThinking,
  unresolvedTokens,
} from '../conversation/chat-task.ts';
import { continueFinal } from '../conversation/continue-final.ts';
import { type MediaReaders, type PendingMedia, readMedia } from '../conversation/read-media.ts';
import { chooseThinking } from '../conversation/thinking.ts';
import { engineSeed, invalid } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import type { Step } from '../core/stage.ts';
import { readMessages } from './read-messages.ts';
import { readFormat, readToolChoice, readTools } from './read-tools.ts';
import { refuseFields } from './refused-fields.ts';

export interface ChatFraming {
  /** Usage comes in a chunk of its own. */
  readonly includeUsage: boolean;
  /** Further fields of the response as JSON, each after a comma. */
  readonly extra?: string;
}

export const readChatRequest =
  (
    readers: MediaReaders,
  ): Step<ResolvedRequest<ChatRequest>, ChatDraft<ChatFraming>, Pick<KeyedRequest, 'exchange'>> =>
  (resolved, { exchange }) => {
    const pending: PendingMedia[] = [];
    const draft = readDraft(resolved, pending, exchange.body.length);
    return pending.length === 0 ? draft : readMedia(readers, pending, draft);
  };

const readDraft = (
  { body, model, variant }: ResolvedRequest<ChatRequest>,
  pending: PendingMedia[],
  bodyLength: number | undefined,
): ChatDraft<ChatFraming> => {
  refuseFields(body);
  const { messages, continued } = continueFinal(
    readMessages(body.messages, { model, pending }),
    body.continue_final_message ?? false,
  );
  const tools = readTools(body.tools);
  const sampling = readSampling(body);
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
    },
    limit: body.max_completion_tokens ?? body.max_tokens,
    thinking: readThinking(body, model, continued),
    hidesReasoning: body.include_reasoning === false || body.reasoning?.exclude === true,
    textBytes: pending.length === 0 ? bodyLength : undefined,
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

type SamplingFields = Pick<
  ChatRequest,
  | 'temperature'
  | 'top_p'
  | 'top_k'
  | 'frequency_penalty'
  | 'presence_penalty'
  | 'repetition_penalty'
  | 'logit_bias'
  | 'seed'
>;

export const readSampling = (body: SamplingFields): Sampling => {
  const sampling: { -readonly [Name in keyof Sampling]: Sampling[Name] } = {};
  if (body.temperature !== undefined) sampling.temperature = body.temperature;
  if (body.top_p !== undefined) sampling.topP = body.top_p;
  if (body.top_k !== undefined) sampling.topK = body.top_k;
  if (body.frequency_penalty !== undefined) sampling.frequencyPenalty = body.frequency_penalty;
  if (body.presence_penalty !== undefined) sampling.presencePenalty = body.presence_penalty;
  if (body.repetition_penalty !== undefined) sampling.repetitionPenalty = body.repetition_penalty;
  if (body.logit_bias !== undefined) sampling.logitBias = checkLogitBias(body.logit_bias);
  if (body.seed !== undefined) sampling.seed = engineSeed(body.seed);
  return sampling;
};

const checkLogitBias = (bias: Readonly<Record<string, number>>): Readonly<Record<string, number>> => {
  for (const token in bias) {
    if (!/^\d{1,9}$/.test(token)) throw invalid('logit_bias must have ids of tokens as its keys');
  }
  return bias;
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
