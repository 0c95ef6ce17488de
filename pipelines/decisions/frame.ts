/** Frames decisions as one JSON object. */
import type { Observer } from 'rxjs';
import type { DecisionAnswer, DecisionsResponse, Question } from '../../schemas/systemone.ts';
import type { Decided } from '../../src/ports/decision.ts';
import { type Exchange, jsonReply, type Reply } from '../../src/ports/exchange.ts';
import type { Counted } from '../core/count-inputs.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import type { DecisionTask } from './read-request.ts';

interface Request {
  readonly exchange: Pick<Exchange, 'id'>;
  readonly task: DecisionTask;
}

export const frameDecisions: Transform<Counted<Decided>, Reply, Request> = transform(
  (next, request) => new DecisionsFrame(next, request),
);

class DecisionsFrame extends Forwarder<Counted<Decided>, Reply> {
  readonly #request: Request;
  /** Of each question; they come in any order. */
  readonly #logprobs = new Map<number, readonly number[]>();
  #tokens = 0;

  constructor(receiver: Observer<Reply>, request: Request) {
    super(receiver);
    this.#request = request;
  }

  next({ question, logprobs, tokens }: Counted<Decided>): void {
    this.#logprobs.set(question, logprobs);
    this.#tokens += tokens;
  }

  override complete(): void {
    this.receiver.next(jsonReply(this.#response()));
    this.receiver.complete();
  }

  #response(): DecisionsResponse {
    const { exchange, task } = this.#request;
    const answers = task.asked.map(({ id, question }, index) => [
      id,
      answer(question, probabilities(this.#logprobs.get(index) ?? [])),
    ]);
    return {
      id: `dec-${exchange.id.slice(exchange.id.indexOf('_') + 1)}`,
      model: task.model.id,
      answers: Object.fromEntries(answers),
      usage: { input_tokens: this.#tokens, output_tokens: 0 },
    };
  }
}

const answer = (question: Question, likely: readonly number[]): DecisionAnswer => {
  switch (question.type) {
    case 'noul':
      return { type: 'noul', noul: likely[0] ?? 0 };
    case 'choice': {
      const options = Object.keys(question.criteria);
      return {
        type: 'choice',
        choice: options[likely.indexOf(Math.max(...likely))] ?? '',
        probabilities: byName(options, likely),
        confidence: confidence(likely),
      };
    }
    case 'score': {
      const levels = question.criteria.map((_, index) => String(index + 1));
      return {
        type: 'score',
        score: likely.reduce((sum, probability, index) => sum + (index + 1) * probability, 0),
        legend: byName(levels, question.criteria),
        probabilities: byName(levels, likely),
        confidence: confidence(likely),
      };
    }
  }
};

const byName = <T>(names: readonly string[], values: readonly T[]): Record<string, T> =>
  Object.fromEntries(values.map((value, index) => [names[index] ?? '', value]));

/** Likelihoods that share an unknown factor → probabilities that add up to 1. */
export const probabilities = (logprobs: readonly number[]): readonly number[] => {
  const highest = Math.max(...logprobs);
  if (highest === Number.NEGATIVE_INFINITY) return logprobs.map(() => 1 / logprobs.length);
  const weights = logprobs.map((logprob) => Math.exp(logprob - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
};

/** 1 when all of it is on one answer, 0 when all answers are as likely. */
export const confidence = (likely: readonly number[]): number => {
  const count = likely.length;
  if (count <= 1) return 1;
  return Math.min(1, Math.max(0, (count * Math.max(...likely) - 1) / (count - 1)));
};
