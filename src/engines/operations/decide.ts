/** Scores the answers of decision questions with an engine, a few requests at a time. */
import { defer, map, mergeMap, type Observable, type OperatorFunction } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import type { AllowedAnswer, Decided, DecisionCall } from '../../ports/engines/decision.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { EngineCalls } from '../calls.ts';
import type { Continuations, DecisionWire } from '../wire.ts';
import { runBatches } from './run-batches.ts';

/** Requests of one call at the engine at once. */
const width = 4;
/** Characters of all prompts in a request: the prompt is repeated for each answer, and echoed. */
const requestLength = 1024 * 1024;

/** Some of a question's answers. */
interface Batch {
  readonly question: number;
  readonly first: number;
  readonly answers: readonly AllowedAnswer[];
}

type Scored = Batch & Continuations;

export const decideOverHttp = (
  { takesQuestions, questions, continuations }: DecisionWire,
  calls: EngineCalls,
): ((model: Model, call: DecisionCall, flow: Flow) => Observable<Decided>) => {
  const askAll = (model: Model, call: DecisionCall, flow: Flow): Observable<Decided> =>
    calls
      .decoded(questions.encode(model, call), flow, questions.decode(call))
      .pipe(mergeMap((decided) => decided));

  const score = (model: Model, call: DecisionCall, flow: Flow): Observable<Decided> =>
    runBatches(split(call), {
      width,
      send: (batch): Observable<Scored> => {
        const request = continuations.encode(model, promptOf(call, batch.question), batch.answers);
        return calls
          .decoded(request, flow, continuations.decode(batch.answers))
          .pipe(map((scores) => ({ ...batch, ...scores })));
      },
    }).pipe(gather(call));

  return (model, call, flow) =>
    takesQuestions(model) ? askAll(model, call, flow) : score(model, call, flow);
};

/** What all questions share comes first, for engines with a prefix cache. vLLM does not use its own here. */
const promptOf = ({ context, questions }: DecisionCall, question: number): string =>
  context + (questions[question]?.prompt ?? '');

const split = (call: DecisionCall): readonly Batch[] =>
  call.questions.flatMap(({ answers }, question) => {
    const most = Math.max(1, Math.floor(requestLength / promptOf(call, question).length));
    return Array.from({ length: Math.ceil(answers.length / most) }, (_, part) => ({
      question,
      first: part * most,
      answers: answers.slice(part * most, (part + 1) * most),
    }));
  });

/** A question is decided when the last of its answers has been scored. */
const gather =
  ({ questions }: DecisionCall): OperatorFunction<Scored, Decided> =>
  (source) =>
    defer(() => {
      const scores = questions.map(({ answers }) => ({
        left: answers.length,
        logprobs: answers.map(() => 0),
      }));
      return source.pipe(
        mergeMap(({ question, first, logprobs, tokens }) => {
          const score = scores[question];
          if (score === undefined) return [];
          for (const [index, logprob] of logprobs.entries()) score.logprobs[first + index] = logprob;
          score.left -= logprobs.length;
          return score.left > 0 ? [] : [{ question, logprobs: score.logprobs, tokens }];
        }),
      );
    });
