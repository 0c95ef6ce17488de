/** Fits the completion limit into the context window: 400 when the prompt alone fills it. */
import { map, type Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { contextFull } from '../../src/errors.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { fitsBytes, fixedTokens, mediaTokens, type Prompt, promptTexts } from '../../src/tokens/prompt.ts';
import { countTexts } from '../core/count-texts.ts';
import type { Step } from '../core/stage.ts';
import type { ChatDraft, ChatTask } from './chat-task.ts';
import { budgetThinking } from './thinking.ts';

const defaultLimit = 32_768;
/** Kept free beside prompt and completion. */
export const margin = 32;
/** No engine takes a larger number. */
const largestLimit = 2 ** 31 - 1;

export const fitContext =
  <F>(offload: Shared<Offload>): Step<ChatDraft<F>, ChatTask<F>, Pick<KeyedRequest, 'caller'>> =>
  (draft, { caller }) => {
    const limit = requestedLimit(draft);
    const window = draft.model.context_length;
    if (window === undefined) return taskOf(draft, limit, undefined);
    const available = window - margin - limit - fixedTokens(draft.call);
    if (draft.textBytes !== undefined && draft.textBytes <= available) return taskOf(draft, limit, undefined);
    if (fitsBytes(promptTexts(draft.call), available)) return taskOf(draft, limit, undefined);
    // Exactly: only when the bytes, which bound the tokens from above, do not fit already.
    return countPrompt(offload.for(caller.subscription), draft.call, draft.model.tokenizer).pipe(
      map((tokens) => cut(draft, limit, window, tokens)),
    );
  };

/** What the client asks for, within what the model can. */
export const requestedLimit = ({ limit, model }: ChatDraft<unknown>): number => limitFor(model, limit);

export const limitFor = ({ max_completion_tokens: most = largestLimit }: Model, limit: number | undefined) =>
  Math.min(limit ?? defaultLimit, most);

/** The exact number of tokens a prompt takes; large ones are counted on a thread. */
export const countPrompt = (offload: Offload, prompt: Prompt, tokenizer: string): Observable<number> =>
  countTexts(offload, promptTexts(prompt), tokenizer).pipe(map((counted) => counted + fixedTokens(prompt)));

/** Of what the texts leave free: media are estimated, so a completion is left this much whatever they are taken for. */
const leastBesideMedia = 1 / 4;

const cut = <F>(draft: ChatDraft<F>, limit: number, window: number, prompt: number): ChatTask<F> => {
  const media = mediaTokens(draft.call);
  const besideText = cutLimit(limit, window, prompt - media, draft.promptField);
  if (media === 0) return taskOf(draft, besideText, prompt);
  const least = Math.ceil((window - prompt + media - margin) * leastBesideMedia);
  const available = Math.max(least, window - prompt - margin);
  return taskOf(draft, Math.min(limit, available), prompt, besideText);
};

/** The completion limit beside a prompt of so many tokens. */
export const cutLimit = (limit: number, window: number, prompt: number, field: string): number => {
  const available = window - prompt - margin;
  if (available < 1) {
    // One token of the completion has to fit as well: a prompt that takes all that is left is too long by one.
    const maximum = Math.min(window - margin, prompt - 1);
    throw contextFull({ prompt, maximum, window }, field);
  }
  return Math.min(limit, available);
};

/** `certain` is the limit without what is only estimated: no budget is refused for an estimate. */
const taskOf = <F>(
  draft: ChatDraft<F>,
  maxTokens: number,
  promptTokens: number | undefined,
  certain = maxTokens,
): ChatTask<F> => {
  const { model, call, limit, hidesReasoning = false, framing } = draft;
  call.maxTokens = maxTokens;
  call.thinking = budgetThinking(draft, certain, maxTokens);
  return { model, call, limit, promptTokens, hidesReasoning, framing };
};
