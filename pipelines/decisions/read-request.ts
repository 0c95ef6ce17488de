/** A checked decisions request beside its model in; the call for the engine out, and what its answers are called. */
import type { Model } from '../../schemas/catalog.ts';
import type { DecisionsRequest, Question } from '../../schemas/systemone.ts';
import type { AllowedAnswer, DecisionCall, DecisionQuestion } from '../../src/ports/decision.ts';
import type { Asked } from '../core/resolve-model.ts';
import { contextOf, numberLabels, optionLabels, questionPrompt } from './prompt.ts';

export interface DecisionTask {
  readonly model: Model;
  readonly call: DecisionCall;
  /** As the client put them, in the order of the call's questions. */
  readonly asked: readonly { readonly id: string; readonly question: Question }[];
}

export const readDecisionRequest = ({ body, model }: Asked<DecisionsRequest>): DecisionTask => {
  const asked = Object.entries(body.questions).map(([id, question]) => ({ id, question }));
  const state = words(body.state);
  return {
    model,
    call: {
      state,
      context: contextOf(state),
      questions: asked.map(({ question }) => readQuestion(question)),
    },
    asked,
  };
};

const readQuestion = (question: Question): DecisionQuestion => {
  const draft = {
    type: question.type,
    instructions: words(question.instructions),
    answers: readAnswers(question),
  };
  return { ...draft, prompt: questionPrompt(draft) };
};

const readAnswers = (question: Question): readonly AllowedAnswer[] => {
  switch (question.type) {
    case 'noul':
      return [
        { label: ' yes', name: 'yes', description: description(question.criteria?.true) },
        { label: ' no', name: 'no', description: description(question.criteria?.false) },
      ];
    case 'choice': {
      const options = Object.entries(question.criteria);
      const labels = optionLabels(options.length);
      return options.map(([name, meaning], index) => ({
        label: labels[index] ?? '',
        name,
        description: description(meaning),
      }));
    }
    case 'score': {
      const labels = numberLabels(question.criteria.length);
      return question.criteria.map((level, index) => ({
        label: labels[index] ?? '',
        name: words(level),
        description: undefined,
      }));
    }
  }
};

const description = (value: unknown): string | undefined =>
  value === null || value === undefined || value === '' ? undefined : words(value);

const words = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, asText));

/** Long base64 in a large request comes as its bytes. */
const asText = (_key: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
