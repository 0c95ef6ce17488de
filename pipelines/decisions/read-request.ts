/** Reads a decisions request into the call for its engine, and writes the prompts of its questions. */
import type { Model } from '../../schemas/catalog.ts';
import type { DecisionsRequest, Question } from '../../schemas/systemone.ts';
import type { AllowedAnswer, DecisionCall, DecisionQuestion } from '../../src/ports/engines/decision.ts';
import { freeJson } from '../core/parse-json.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';

export interface DecisionTask {
  readonly model: Model;
  readonly call: DecisionCall;
  /** As the client sent them, in the order of the call's questions. */
  readonly questions: readonly { readonly id: string; readonly question: Question }[];
}

export const readDecisionRequest = ({ body, model }: ResolvedRequest<DecisionsRequest>): DecisionTask => {
  const questions = Object.entries(body.questions).map(([id, question]) => ({ id, question }));
  const state = textOf(body.state);
  return {
    model,
    call: {
      state,
      context: contextOf(state),
      questions: questions.map(({ question }) => readQuestion(question)),
    },
    questions,
  };
};

const readQuestion = (question: Question): DecisionQuestion => {
  const draft = {
    type: question.type,
    instructions: textOf(question.instructions),
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
        name: textOf(level),
        description: undefined,
      }));
    }
  }
};

const description = (value: unknown): string | undefined =>
  value === null || value === undefined || value === '' ? undefined : textOf(value);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(freeJson(value));

/** What the model reads before every question; it is counted and billed each time. */
const contextOf = (state: string): string =>
  `Read the state, then answer the question about it.\n\nState:\n${state}\n\n`;

/** All but the prompt, which is made of it. */
const questionPrompt = ({ type, instructions, answers }: Omit<DecisionQuestion, 'prompt'>): string => {
  const question = `Question: ${instructions}\n`;
  switch (type) {
    case 'noul':
      return `${question}${meanings(answers)}Answer yes or no.\nAnswer:`;
    case 'choice':
      return `${question}Options:\n${list(answers)}Answer with the sign before the best option.\nAnswer:`;
    case 'score':
      return `${question}Levels, lowest first:\n${list(answers)}Answer with the number of the level that fits.\nAnswer:`;
  }
};

const meanings = (answers: readonly AllowedAnswer[]): string =>
  answers
    .filter(({ description }) => description !== undefined)
    .map(({ name, description }) => `${name}: ${description}\n`)
    .join('');

const list = (answers: readonly AllowedAnswer[]): string =>
  answers
    .map(
      ({ label, name, description }) =>
        `${label.trim()}. ${name}${description === undefined ? '' : `: ${description}`}\n`,
    )
    .join('');

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** What the model generates for each answer: one letter where there are enough of them. */
const optionLabels = (count: number): readonly string[] =>
  count <= letters.length ? [...letters.slice(0, count)].map((letter) => ` ${letter}`) : numberLabels(count);

/** From ten on a line end closes the number: 1 is the beginning of 10. */
const numberLabels = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => ` ${index + 1}${count > 9 ? '\n' : ''}`);
