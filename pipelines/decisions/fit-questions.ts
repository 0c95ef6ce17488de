/** A task in; the same out when the model can read state, question and options at once. 422 names the question that is too long. */
import {
  concat,
  concatMap,
  from,
  ignoreElements,
  map,
  type Observable,
  type OperatorFunction,
  of,
  switchMap,
} from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Offload } from '../../src/ports/offload.ts';
import { countTexts } from '../core/count-texts.ts';
import { subject } from '../core/validation/explain-schema.ts';
import type { DecisionTask } from './read-request.ts';

export const fitDecisionQuestions = (offload: Offload): OperatorFunction<DecisionTask, DecisionTask> =>
  switchMap((task) => {
    const { model, call } = task;
    const limit = model.context_length ?? Number.POSITIVE_INFINITY;
    const bytes = call.questions.map(({ prompt }) => Buffer.byteLength(prompt));
    // Bytes bound tokens from above: most requests are never counted.
    if (Buffer.byteLength(call.context) + Math.max(...bytes) <= limit) return of(task);
    return countTexts(offload, [call.context], model.tokenizer).pipe(
      switchMap((context) => {
        const doubtful = call.questions.flatMap((_, index) =>
          context + (bytes[index] ?? 0) > limit ? [index] : [],
        );
        return concat(
          from(doubtful).pipe(
            concatMap((index) => check(offload, task, index, context, limit)),
            ignoreElements(),
          ),
          of(task),
        );
      }),
    );
  });

const check = (
  offload: Offload,
  { model, call, asked }: DecisionTask,
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
          `${subject(['questions', asked[index]?.id ?? ''])} is too long: with the state it has ${tokens} tokens, model ${model.id} reads ${limit}`,
        );
    }),
  );
