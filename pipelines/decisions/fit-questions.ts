/** Rejects questions that are too long for the model with the state: 422 names the question. */
import { concat, concatMap, from, ignoreElements, map, type Observable, of, switchMap } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { countTexts } from '../core/count-texts.ts';
import type { Step } from '../core/stage.ts';
import { subject } from '../core/validation/explain-schema.ts';
import type { DecisionTask } from './read-request.ts';

export const fitQuestions =
  (offload: Shared<Offload>): Step<DecisionTask, DecisionTask, Pick<KeyedRequest, 'caller'>> =>
  (task, { caller }) => {
    const { model, call } = task;
    const limit = model.context_length ?? Number.POSITIVE_INFINITY;
    const bytes = call.questions.map(({ prompt }) => Buffer.byteLength(prompt));
    // Bytes bound tokens from above: most requests are never counted.
    if (Buffer.byteLength(call.context) + Math.max(...bytes) <= limit) return task;
    const counter = offload.for(caller.subscription);
    return countTexts(counter, [call.context], model.tokenizer).pipe(
      switchMap((context) => {
        const doubtful = [...bytes.keys()].filter((index) => context + (bytes[index] ?? 0) > limit);
        const checks = from(doubtful).pipe(
          concatMap((index) => check(counter, task, index, context, limit)),
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
