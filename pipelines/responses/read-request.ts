/** Reads a responses request into a draft of the engine call: 400 names the field. */

import { ResponsesRequest } from '../../schemas/responses/request.ts';
import type { AnswerFormat } from '../../src/ports/engines/chat.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { readThinking } from '../chat/read-request.ts';
import { schemaFormat } from '../chat/read-tools.ts';
import {
  type ChatDraft,
  noStop,
  plainText,
  unresolvedThinking,
  unresolvedTokens,
} from '../conversation/chat-task.ts';
import { type AddressRules, checkDraft } from '../conversation/check-draft.ts';
import type { PendingMedia } from '../conversation/media-parts.ts';
import { dialect, namesOf, type Refuse, readOtherFields, refusal } from '../conversation/other-fields.ts';
import { readSampling } from '../conversation/read-sampling.ts';
import { invalid, required } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import type { Resumption } from '../core/resumable.ts';
import { responseReply } from './background.ts';
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
  (ports: AddressRules & Pick<Ports, 'streams'>) =>
  (resolved: ResolvedRequest<ResponsesRequest>, { exchange }: Pick<KeyedRequest, 'exchange'>) => {
    refuseStored(resolved.body, ports.streams.mostGraceMs > 0);
    return checkDraft(readDraft(resolved, exchange.body.length), ports);
  };

const readDraft = (
  { body, model, variant }: ResolvedRequest<ResponsesRequest>,
  bodyLength: number | undefined,
): ChatDraft<ResponsesFraming> => {
  const pending: PendingMedia[] = [];
  const forwarded = readOtherFields(responsesFields, body, model);
  const given = readTools(body);
  const messages = readResponsesInput(body, given.names, { model, pending });
  const { tools, toolChoice } = chooseTools(body.tool_choice, given);
  const sampling = readSampling(body, model);
  const format = readFormat(body.text?.format);
  const logprobs = readLogprobs(body);
  return {
    model,
    express: variant === 'express',
    promptField: 'input',
    call: {
      messages,
      // One in the background is polled: it is read as events, too.
      stream: body.stream === true || body.background === true,
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
      forwarded,
    },
    limit: body.max_output_tokens,
    thinking: readThinking(body.reasoning === undefined ? {} : { reasoning: body.reasoning }, model, false),
    hidesReasoning: body.reasoning?.exclude === true,
    pending,
    textBytes: pending.length === 0 && bodyLength !== undefined ? bodyLength + given.addedBytes : undefined,
    resumable: body.background === true ? inBackground(body) : undefined,
    framing: { echo: responsesEcho(body, format), called: given.called },
  };
};

const streamed: Resumption = { longest: true };
const polled: Resumption = { longest: true, reply: (opening) => responseReply(opening) };

const inBackground = ({ stream }: ResponsesRequest): Resumption => (stream === true ? streamed : polled);

const refuseStored = (body: ResponsesRequest, runsInBackground: boolean): void => {
  for (const field of ['previous_response_id', 'conversation', 'prompt'] as const) {
    if (body[field] !== undefined)
      throw invalid(`${field} is not supported: nothing is stored, so send it all in input`);
  }
  if (body.background === true && !runsInBackground)
    throw invalid('background must be false: a response is not kept after its request');
};

const elsewhere = (why = '', harmless?: unknown): Refuse =>
  refusal(` on /responses${why}`, (value) => value === harmless);

/** The engine may have a use for these two, which are also shown in the response. */
const forwardable = new Set(['prompt_cache_key', 'safety_identifier']);

const responsesFields = dialect({
  own: namesOf(ResponsesRequest).filter((name) => !forwardable.has(name)),
  refused: {
    max_tokens: elsewhere(': use max_output_tokens'),
    max_completion_tokens: elsewhere(': use max_output_tokens'),
    reasoning_effort: elsewhere(': use reasoning.effort'),
    response_format: elsewhere(': use text.format'),
    logprobs: elsewhere(': use top_logprobs', false),
    n: elsewhere('', 1),
    stop: elsewhere(),
    logit_bias: elsewhere(),
  },
  instead: {
    format: 'text.format',
    reasoning: 'reasoning',
    limit: 'max_output_tokens',
    repetition: 'repetition_penalty',
  },
});

type TextFormat = NonNullable<ResponsesRequest['text']>['format'];

const readFormat = (format: TextFormat): AnswerFormat => {
  if (format === undefined) return plainText;
  if (format.type !== 'json_schema') return { type: format.type };
  const name = required(format.name, 'text.format.name');
  const path = 'text.format.schema';
  return schemaFormat(format, name, required(format.schema, path), path);
};

const readLogprobs = ({
  include,
  top_logprobs = 0,
}: ResponsesRequest): { readonly top: number } | undefined =>
  top_logprobs > 0 || include?.includes('message.output_text.logprobs') === true
    ? { top: top_logprobs }
    : undefined;
