/** Rejects questions that are too long for the model with the state: 422 names the question. */
import { concat, concatMap, from, ignoreElements, map, type Observable, of, switchMap } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Offload } from '../../src/ports/offload.ts';
import { countTexts } from '../core/count-texts.ts';
import type { Step } from '../core/stage.ts';
import { subject } from '../core/validation/explain-schema.ts';
import type { DecisionTask } from './read-request.ts';

export const fitQuestions =
  (offload: Offload): Step<DecisionTask, DecisionTask, unknown> =>
  (task) => {
    const { model, call } = task;
    const limit = model.context_length ?? Number.POSITIVE_INFINITY;
    const bytes = call.questions.map(({ prompt }) => Buffer.byteLength(prompt));
    // Bytes bound tokens from above: most requests are never counted.
    if (Buffer.byteLength(call.context) + Math.max(...bytes) <= limit) return task;
    return countTexts(offload, [call.context], model.tokenizer).pipe(
      switchMap((context) => {
        const doubtful = [...bytes.keys()].filter((index) => context + (bytes[index] ?? 0) > limit);
        const checks = from(doubtful).pipe(
          concatMap((index) => check(offload, task, index, context, limit)),
          ignoreElements(),
        );
        return concat(checks, of(task));
      }),
    );
  };

const check = (
  offload: Offload,
  { model, call, questions }: DecisionTask,
  index: number,
  context: number,
  limit: number,
): Observable<void> =>
  countTexts(offload, [call.questions[index]?.prompt ?? ''], model.tokenizer).pipe(
    map((question) => {
      const tokens = context + question;
      if (tokens > limit)
        throw fail(
          'unprocessable',
          `${subject(['questions', questions[index]?.id ?? ''])} is too long: with the state it has ${tokens} tokens, model ${model.id} reads ${limit}`,
        );
    }),
  );
