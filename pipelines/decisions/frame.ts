/** Frames decisions as one JSON object. */
import type { DecisionAnswer, DecisionsResponse, Question } from '../../schemas/systemone.ts';
import type { Decided } from '../../src/ports/engines/decision.ts';
import { jsonReply, type WholeReply } from '../../src/ports/exchange.ts';
import type { Counted } from '../core/count-inputs.ts';
import { type Framing, responseKey } from '../core/frame.ts';
import { gather } from '../core/transforms.ts';
import type { DecisionTask } from './read-request.ts';

const replyOf = (
  decisions: readonly Counted<Decided>[],
  { exchange, task }: Framing<DecisionTask>,
): WholeReply => {
  const logprobs = new Map(decisions.map((decided) => [decided.question, decided.logprobs]));
  const answers = task.questions.map(({ id, question }, index) => [
    id,
    answer(question, probabilities(logprobs.get(index) ?? [])),
  ]);
  const response: DecisionsResponse = {
    id: `dec-${responseKey(exchange)}`,
    model: task.model.id,
    answers: Object.fromEntries(answers),
    usage: { input_tokens: decisions.reduce((sum, { tokens }) => sum + tokens, 0), output_tokens: 0 },
  };
  return jsonReply(response);
};

export const frameDecisions = gather(replyOf);

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

/** 1 when one answer is certain, 0 when all are equally likely. */
export const confidence = (likely: readonly number[]): number => {
  const count = likely.length;
  if (count <= 1) return 1;
  return Math.min(1, Math.max(0, (count * Math.max(...likely) - 1) / (count - 1)));
};
