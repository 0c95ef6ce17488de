/** Requests and responses of `POST /systemone`: questions about a state, answered as probabilities. */
import Type, { type Static } from 'typebox';
import { ByName, ignoredFields, Titled } from './shapes.ts';

/** Text, or data that is read as JSON. */
const Words = Type.Union([
  Type.String(),
  Type.Object({}, { additionalProperties: true }),
  Type.Array(Type.Unknown()),
]);

const Description = Type.Union([Words, Type.Null()]);

const NoulQuestion = Type.Object({
  type: Type.Literal('noul'),
  instructions: Words,
  criteria: Type.Optional(
    Type.Union([
      Type.Object(
        { true: Type.Optional(Description), false: Type.Optional(Description) },
        { description: 'What yes and no mean', additionalProperties: false },
      ),
      Type.Null(),
    ]),
  ),
});

const ChoiceQuestion = Type.Object({
  type: Type.Literal('choice'),
  instructions: Words,
  criteria: ByName(Description, {
    minProperties: 1,
    maxProperties: 255,
    description: 'Each option with its description',
  }),
});

const ScoreQuestion = Type.Object({
  type: Type.Literal('score'),
  instructions: Words,
  criteria: Type.Array(Words, {
    minItems: 1,
    maxItems: 10,
    description: 'Labels of the levels, lowest first',
  }),
});

const Question = Type.Union([NoulQuestion, ChoiceQuestion, ScoreQuestion]);
export type Question = Static<typeof Question>;

export const DecisionsRequest = Titled('DecisionsRequest', {
  model: Type.String({ description: 'A decision model' }),
  state: Words,
  questions: ByName(Question, {
    minProperties: 1,
    maxProperties: 64,
    description: 'Questions by ids of your choice',
  }),
  ...ignoredFields,
  provider: Type.Optional(Type.Unknown()),
});
export type DecisionsRequest = Static<typeof DecisionsRequest>;

const Probability = Type.Number({ minimum: 0, maximum: 1 });

const DecisionAnswer = Type.Union([
  Type.Object({ type: Type.Literal('noul'), noul: Probability }),
  Type.Object({
    type: Type.Literal('choice'),
    choice: Type.String(),
    probabilities: Type.Record(Type.String(), Probability),
    confidence: Probability,
  }),
  Type.Object({
    type: Type.Literal('score'),
    score: Type.Number({ description: 'Between 1 and the number of levels' }),
    legend: Type.Record(Type.String(), Words),
    probabilities: Type.Record(Type.String(), Probability),
    confidence: Probability,
  }),
]);
export type DecisionAnswer = Static<typeof DecisionAnswer>;

export const DecisionsResponse = Titled('DecisionsResponse', {
  id: Type.String(),
  model: Type.String(),
  answers: Type.Record(Type.String(), DecisionAnswer, { description: 'By the ids of the questions' }),
  usage: Type.Object({
    input_tokens: Type.Integer({
      minimum: 0,
      description: 'State, question and options of every question',
    }),
    output_tokens: Type.Literal(0),
  }),
});
export type DecisionsResponse = Static<typeof DecisionsResponse>;
