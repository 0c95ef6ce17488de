/** Cuts inputs that are longer than the model reads. */
import { map, of } from 'rxjs';
import type { EmbeddingInput } from '../../src/ports/engines/embedding.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { fitsBytes } from '../../src/tokens/prompt.ts';
import { cutTexts } from '../core/count-texts.ts';
import type { Step } from '../core/stage.ts';
import type { EmbeddingTask } from './read-request.ts';

export const fitInputs =
  <Task extends EmbeddingTask>(offload: Shared<Offload>): Step<Task, Task, Pick<KeyedRequest, 'caller'>> =>
  (task, { caller }) => {
    const { model, call } = task;
    const limit = model.context_length ?? Number.POSITIVE_INFINITY;
    // Bytes bound tokens from above: most texts are never counted.
    const long = call.inputs.filter(
      (input): input is string => typeof input === 'string' && !fitsBytes([input], limit),
    );
    if (long.length === 0 && call.inputs.every((input) => typeof input === 'string' || input.length <= limit))
      return task;
    const cut =
      long.length === 0 ? of(long) : cutTexts(offload.for(caller.subscription), long, model.tokenizer, limit);
    return cut.pipe(map((shorter) => replaced(task, long, shorter, limit)));
  };

const replaced = <Task extends EmbeddingTask>(
  task: Task,
  long: readonly string[],
  shorter: readonly string[],
  limit: number,
): Task => {
  let next = 0;
  const fit = (input: EmbeddingInput): EmbeddingInput => {
    if (typeof input !== 'string') return input.length > limit ? input.slice(0, limit) : input;
    if (input !== long[next]) return input;
    const found = shorter[next] ?? input;
    next++;
    return found;
  };
  return { ...task, call: { ...task.call, inputs: task.call.inputs.map(fit) } };
};
