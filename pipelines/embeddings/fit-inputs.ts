/** A task in; the same out, with every input that is longer than the model reads cut to what it does. */
import { map, type OperatorFunction, of, switchMap } from 'rxjs';
import type { EmbeddingInput } from '../../src/ports/embedding.ts';
import type { Offload } from '../../src/ports/offload.ts';
import { fitsBytes } from '../../src/tokens/prompt.ts';
import { cutTexts } from '../core/count-texts.ts';
import type { EmbeddingTask } from './read-request.ts';

export const fitEmbeddingInputs = (offload: Offload): OperatorFunction<EmbeddingTask, EmbeddingTask> =>
  switchMap((task) => {
    const { model, call } = task;
    const limit = model.context_length ?? Number.POSITIVE_INFINITY;
    // Bytes bound tokens from above: most texts are never counted.
    const long = call.inputs.filter(
      (input): input is string => typeof input === 'string' && !fitsBytes([input], limit),
    );
    if (long.length === 0 && call.inputs.every((input) => typeof input === 'string' || input.length <= limit))
      return of(task);
    const cut = long.length === 0 ? of(long) : cutTexts(offload, long, model.tokenizer, limit);
    return cut.pipe(map((shorter) => replaced(task, long, shorter, limit)));
  });

const replaced = (
  { model, call }: EmbeddingTask,
  long: readonly string[],
  shorter: readonly string[],
  limit: number,
): EmbeddingTask => {
  let next = 0;
  const fit = (input: EmbeddingInput): EmbeddingInput => {
    if (typeof input !== 'string') return input.length > limit ? input.slice(0, limit) : input;
    if (input !== long[next]) return input;
    const found = shorter[next] ?? input;
    next++;
    return found;
  };
  return { model, call: { ...call, inputs: call.inputs.map(fit) } };
};
