/** Forwards decision questions to another Sluice and reads its probabilities. */
import type { Decided, DecisionCall, DecisionQuestion } from '../../../ports/engines/decision.ts';
import type { DecisionWire } from '../../wire.ts';
import { isObject } from '../shared/json.ts';
import { type Pick, unreadable } from '../shared/json-picker.ts';
import { type Fields, failureFields, namedFields, pickingDecoder } from './fields.ts';

export const systemOneWire: DecisionWire['questions'] = {
  encode: (model, { state, questions }) => ({
    path: '/systemone',
    body: JSON.stringify({
      model: model.served_as,
      state,
      questions: Object.fromEntries(
        questions.map((question, index) => [idOf(index), encodeQuestion(question)]),
      ),
    }),
  }),
  decode: (call) => pickingDecoder(answer, { fields: {} }, ({ fields }) => decidedOf(call, fields)),
};

/** Ids of our own: the client's may be anything. */
const idOf = (index: number): string => `q${index}`;

const encodeQuestion = ({ type, instructions, answers }: DecisionQuestion) => {
  const [yes, no] = answers;
  switch (type) {
    case 'noul': {
      const criteria =
        yes?.description === undefined && no?.description === undefined
          ? {}
          : { criteria: { true: yes?.description ?? 'yes', false: no?.description ?? 'no' } };
      return { type, instructions, ...criteria };
    }
    case 'choice':
      return {
        type,
        instructions,
        criteria: Object.fromEntries(answers.map(({ name, description }) => [name, description ?? null])),
      };
    case 'score':
      return { type, instructions, criteria: answers.map(({ name }) => name) };
  }
};

const answer: Pick<Fields> = { keys: new Map([...namedFields('answers', 'usage'), ...failureFields]) };

/** The tokens of all questions come as one number, which the first answer carries. */
const decidedOf = ({ questions }: DecisionCall, { answers, usage }: Fields['fields']): readonly Decided[] => {
  const tokens = isObject(usage) && typeof usage.input_tokens === 'number' ? usage.input_tokens : undefined;
  return questions.map((question, index) => ({
    question: index,
    logprobs: logprobsOf(question, isObject(answers) ? answers[idOf(index)] : undefined),
    tokens: index === 0 || tokens === undefined ? tokens : 0,
  }));
};

const logprobsOf = (question: DecisionQuestion, answer: unknown): readonly number[] => {
  if (!isObject(answer)) throw unreadable();
  const { noul, probabilities } = answer;
  if (question.type === 'noul') return [logOf(noul), logOf(typeof noul === 'number' ? 1 - noul : noul)];
  if (!isObject(probabilities)) throw unreadable();
  return question.answers.map(({ name }, index) =>
    logOf(probabilities[question.type === 'score' ? String(index + 1) : name]),
  );
};

const logOf = (probability: unknown): number => {
  if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1)) throw unreadable();
  return Math.log(probability);
};
