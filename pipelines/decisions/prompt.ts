/** A state and a question's parts in; what a model reads of them out. The same words are counted and billed. */
import type { AllowedAnswer, DecisionQuestion } from '../../src/ports/decision.ts';

export const contextOf = (state: string): string =>
  `Read the state, then answer the question about it.\n\nState:\n${state}\n\n`;

/** All but the prompt, which is made of it. */
export const questionPrompt = ({ type, instructions, answers }: Omit<DecisionQuestion, 'prompt'>): string => {
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

/** What the model says for each of so many answers: one letter where there are enough of them. */
export const optionLabels = (count: number): readonly string[] =>
  count <= letters.length ? [...letters.slice(0, count)].map((letter) => ` ${letter}`) : numberLabels(count);

/** From ten on a line end closes the number: 1 is the beginning of 10. */
export const numberLabels = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => ` ${index + 1}${count > 9 ? '\n' : ''}`);
