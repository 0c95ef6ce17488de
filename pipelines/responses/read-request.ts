/** Reads a responses request into a draft of the engine call: 400 names the field. */

import type { ResponsesRequest } from '../../schemas/responses.ts';
import { fail } from '../../src/errors.ts';
import type { AnswerFormat } from '../../src/ports/chat.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import { readSampling, readThinking } from '../chat/read-request.ts';
import { schemaFormat } from '../chat/read-tools.ts';
import {
  type ChatDraft,
  noStop,
  plainText,
  unresolvedThinking,
  unresolvedTokens,
} from '../conversation/chat-task.ts';
import { type MediaReaders, type PendingMedia, readMedia } from '../conversation/read-media.ts';
import { invalid, required } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import type { Step } from '../core/stage.ts';
import { responsesEcho } from './echo.ts';
import { readResponsesInput } from './read-input.ts';
import { chooseTools, readTools } from './read-tools.ts';
import type { CalledTools } from './tool-names.ts';

export interface ResponsesFraming {
  /** What every response object repeats of its request, as JSON fields. */
  readonly echo: string;
  readonly called: CalledTools | undefined;
}

export const readResponsesRequest =
  (
    readers: MediaReaders,
  ): Step<ResolvedRequest<ResponsesRequest>, ChatDraft<ResponsesFraming>, Pick<KeyedRequest, 'exchange'>> =>
  (resolved, { exchange }) => {
    const pending: PendingMedia[] = [];
    const draft = readDraft(resolved, pending, exchange.body.length);
    return pending.length === 0 ? draft : readMedia(readers, pending, draft);
  };

const readDraft = (
  { body, model, variant }: ResolvedRequest<ResponsesRequest>,
  pending: PendingMedia[],
  bodyLength: number | undefined,
): ChatDraft<ResponsesFraming> => {
  refuseStored(body);
  refuseUnsupported(body);
  checkMetadata(body.metadata);
  const given = readTools(body);
  const messages = readResponsesInput(body, given.names, { model, pending });
  const { tools, toolChoice } = chooseTools(body.tool_choice, given);
  const sampling = readSampling(body);
  const format = readFormat(body.text?.format);
  const logprobs = readLogprobs(body);
  return {
    model,
    express: variant === 'express',
    promptField: 'input',
    call: {
      messages,
      stream: body.stream ?? false,
      maxTokens: unresolvedTokens,
      n: 1,
      // A final assistant message is history in this format: the model writes another one.
      continueFinal: false,
      thinking: unresolvedThinking,
      sampling,
      stop: noStop,
      logprobs,
      tools,
      toolChoice,
      parallelToolCalls: body.parallel_tool_calls,
      format,
      user: body.user,
    },
    limit: body.max_output_tokens,
    thinking: readThinking(body.reasoning === undefined ? {} : { reasoning: body.reasoning }, model, false),
    hidesReasoning: body.reasoning?.exclude === true,
    textBytes: pending.length === 0 && bodyLength !== undefined ? bodyLength + given.addedBytes : undefined,
    framing: { echo: responsesEcho(body, format), called: given.called },
  };
};

const refuseStored = (body: ResponsesRequest): void => {
  for (const field of ['previous_response_id', 'conversation', 'prompt'] as const) {
    if (body[field] !== undefined)
      throw invalid(`${field} is not supported: nothing is stored, so send it all in input`);
  }
  if (body.background === true)
    throw invalid('background must be false: a response is not kept after its request');
};

interface Unsupported {
  /** What it is called here. */
  readonly instead?: string;
  /** A value that changes nothing. */
  readonly harmless?: unknown;
}

/** Fields of other formats that would change the response. */
const unsupported: ReadonlyMap<string, Unsupported> = new Map<string, Unsupported>([
  ['max_tokens', { instead: 'max_output_tokens' }],
  ['max_completion_tokens', { instead: 'max_output_tokens' }],
  ['reasoning_effort', { instead: 'reasoning.effort' }],
  ['response_format', { instead: 'text.format' }],
  ['logprobs', { instead: 'top_logprobs', harmless: false }],
  ['n', { harmless: 1 }],
  ['stop', {}],
  ['logit_bias', {}],
]);

const refuseUnsupported = (body: Readonly<Record<string, unknown>>): void => {
  for (const name in body) {
    const field = unsupported.get(name);
    if (field === undefined || body[name] === null || body[name] === field.harmless) continue;
    const hint = field.instead === undefined ? '' : `: use ${field.instead}`;
    throw fail('unsupported_parameter', `${name} is not supported on /responses${hint}`);
  }
};

const longestKey = 64;

const checkMetadata = (metadata: ResponsesRequest['metadata'] = {}): void => {
  for (const key in metadata) {
    if (key.length > longestKey) throw invalid(`metadata must have keys of at most ${longestKey} characters`);
  }
};

type TextFormat = NonNullable<ResponsesRequest['text']>['format'];

const readFormat = (format: TextFormat): AnswerFormat => {
  if (format === undefined) return plainText;
  if (format.type !== 'json_schema') return { type: format.type };
  const name = required(format.name, 'text.format.name');
  return schemaFormat(format, name, required(format.schema, 'text.format.schema'));
};

const readLogprobs = ({
  include,
  top_logprobs = 0,
}: ResponsesRequest): { readonly top: number } | undefined =>
  top_logprobs > 0 || include?.includes('message.output_text.logprobs') === true
    ? { top: top_logprobs }
    : undefined;
