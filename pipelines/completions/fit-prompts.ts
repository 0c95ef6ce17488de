/** Fits the completion limit into the context window beside the longest prompt: 400 when that alone fills it. */
import { forkJoin, map } from 'rxjs';
import type { TextPrompt } from '../../src/ports/engines/completion.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { fitsBytes, fixedTokens, promptTexts } from '../../src/tokens/prompt.ts';
import type { CompletionTask } from '../conversation/chat-task.ts';
import { countPrompt, cutLimit, margin } from '../conversation/fit-context.ts';
import type { Step } from '../core/stage.ts';
import type { CompletionDraft, CompletionFraming } from './read-request.ts';

export const fitPrompts =
  (
    offload: Shared<Offload>,
  ): Step<CompletionDraft, CompletionTask<CompletionFraming>, Pick<KeyedRequest, 'caller'>> =>
  (draft, { caller }) => {
    const { model, call, textBytes } = draft;
    const window = model.context_length;
    if (window === undefined) return taskOf(draft, call.maxTokens, undefined);
    const available = window - margin - call.maxTokens;
    // A token id takes at least two bytes of the request, so the bound holds for those too.
    if ((textBytes !== undefined && textBytes <= available) || call.prompts.every(fitsIn(available)))
      return taskOf(draft, call.maxTokens, undefined);
    const counter = offload.for(caller.subscription);
    const counts = call.prompts.map((prompt) => countPrompt(counter, { prompts: [prompt] }, model.tokenizer));
    return forkJoin(counts).pipe(
      map((tokens) => {
        const longest = Math.max(...tokens);
        const total = tokens.reduce((sum, count) => sum + count, 0);
        return taskOf(draft, cutLimit(call.maxTokens, window, longest, 'prompt'), total);
      }),
    );
  };

/** The bytes bound the tokens from above. */
const fitsIn =
  (available: number) =>
  (prompt: TextPrompt): boolean => {
    const one = { prompts: [prompt] };
    return fitsBytes(promptTexts(one), available - fixedTokens(one));
  };

const taskOf = (
  { model, call, framing }: CompletionDraft,
  maxTokens: number,
  promptTokens: number | undefined,
): CompletionTask<CompletionFraming> => ({
  model,
  call: maxTokens === call.maxTokens ? call : { ...call, maxTokens },
  limit: call.maxTokens,
  promptTokens,
  hidesReasoning: false,
  framing,
});
