/** Reads a completion request into a draft of the engine call: 400 names the field. */
import type { Model } from '../../schemas/catalog.ts';
import { CompletionFields, maxChoices } from '../../schemas/completions.ts';
import { fail } from '../../src/errors.ts';
import type { CompletionCall } from '../../src/ports/engines/completion.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import { readStop } from '../chat/read-request.ts';
import { dialect, namesOf, readOtherFields } from '../conversation/other-fields.ts';
import { readSampling } from '../conversation/read-sampling.ts';
import { invalid } from '../core/checks.ts';
import { readInputs } from '../core/read-inputs.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import { type ResumableDraft, resumption } from '../core/resumable.ts';
import type { Step } from '../core/stage.ts';

export interface CompletionDraft extends ResumableDraft {
  readonly model: Model;
  readonly call: CompletionCall;
  /** Bytes of the request, which hold all its text. */
  readonly textBytes: number | undefined;
  readonly framing: CompletionFraming;
}

export interface CompletionFraming {
  /** Usage comes in a chunk of its own. */
  readonly includeUsage: boolean;
  /** Texts that the completions of each prompt begin with. */
  readonly echoed: readonly string[] | undefined;
}

/** Constrained answers and thinking have no field here. */
const completionFields = dialect({
  own: namesOf(CompletionFields),
  refused: {},
  instead: { limit: 'max_tokens', repetition: 'repetition_penalty' },
});

/** As the vendor of this format has it. */
const defaultLimit = 16;

export const readCompletionRequest: Step<
  ResolvedRequest<CompletionFields>,
  CompletionDraft,
  Pick<KeyedRequest, 'exchange'>
> = ({ body, model }, { exchange }) => {
  const forwarded = readOtherFields(completionFields, body, model);
  const { n = 1, best_of, logprobs, echo = false } = body;
  if (best_of !== undefined && best_of !== n)
    throw fail('unsupported_parameter', 'best_of must be the same as n: others are not supported');
  const prompts = readInputs(body.prompt, { field: 'prompt', most: maxChoices, empty: true });
  if (prompts.length * n > maxChoices)
    throw invalid(
      `n must be at most ${Math.floor(maxChoices / prompts.length)} for ${prompts.length} prompts`,
    );
  const texts = prompts.filter((prompt) => typeof prompt === 'string');
  // Every engine can do without it, but for what only the engine knows: log-probabilities and its vocabulary.
  const echoesHere = echo && logprobs === undefined && texts.length === prompts.length;
  return {
    model,
    call: {
      prompts,
      stream: body.stream ?? false,
      maxTokens: Math.min(body.max_tokens ?? defaultLimit, model.max_completion_tokens ?? Infinity),
      n,
      sampling: readSampling(body, model),
      stop: readStop(body.stop),
      logprobs: logprobs === undefined ? undefined : { top: logprobs },
      echo: echo && !echoesHere,
      user: body.user,
      forwarded,
    },
    textBytes: exchange.body.length,
    resumable: body.stream_options?.resumable === true ? resumption : undefined,
    framing: {
      includeUsage: body.stream_options?.include_usage ?? false,
      echoed: echoesHere ? texts : undefined,
    },
  };
};
