/** Requests and responses of `POST /systemone`: questions about a state, answered as probabilities. */
import Type, { type Static } from 'typebox';
import { ByName, Described, ignoredFields, Titled } from './shapes.ts';

/** Text, or data that is read as JSON. */
const Words = Type.Union([
  Type.String(),
  Type.Object({}, { additionalProperties: true }),
  Type.Array(Type.Unknown()),
]);

const Description = Type.Union([Words, Type.Null()]);

const instructions = Described(Words, 'What is asked about the state');

const NoulQuestion = Type.Object({
  type: Type.Literal('noul', { description: 'Yes or no' }),
  instructions,
  criteria: Type.Optional(
    Type.Union(
      [
        Type.Object(
          {
            true: Type.Optional(Described(Description, 'What yes means')),
            false: Type.Optional(Described(Description, 'What no means')),
          },
          { additionalProperties: false },
        ),
        Type.Null(),
      ],
      { description: 'What yes and no mean' },
    ),
  ),
});

const ChoiceQuestion = Type.Object({
  type: Type.Literal('choice', { description: 'One of several options' }),
  instructions,
  criteria: ByName(Description, {
    minProperties: 1,
    maxProperties: 255,
    description: '1 to 255 options, each with its description',
  }),
});

const ScoreQuestion = Type.Object({
  type: Type.Literal('score', { description: 'A level on a scale' }),
  instructions,
  criteria: Type.Array(Words, {
    minItems: 1,
    maxItems: 10,
    description: 'Labels of the 1 to 10 levels, lowest first',
  }),
});

const Question = Type.Union([NoulQuestion, ChoiceQuestion, ScoreQuestion]);
export type Question = Static<typeof Question>;

export const DecisionsRequest = Titled('DecisionsRequest', {
  model: Type.String({ description: 'Id of a decision model', examples: ['sluice/decide'] }),
  state: Described(Words, 'What the questions are about: a text, or data that is read as JSON'),
  questions: ByName(Question, {
    minProperties: 1,
    maxProperties: 64,
    description: '1 to 64 questions by ids of your choice; each is answered and billed by itself',
  }),
  ...ignoredFields,
  provider: Type.Optional(Type.Unknown({ description: 'Accepted and ignored' })),
});
export type DecisionsRequest = Static<typeof DecisionsRequest>;

const Probability = Type.Number({ minimum: 0, maximum: 1 });
const Confidence = Described(
  Probability,
  '(k × p − 1) / (k − 1) for k answers and the probability p of the likeliest: 0 when all are equally likely, 1 when it is certain',
);

const DecisionAnswer = Type.Union([
  Type.Object({ type: Type.Literal('noul'), noul: Described(Probability, 'Probability of yes') }),
  Type.Object({
    type: Type.Literal('choice'),
    choice: Type.String({ description: 'The likeliest option' }),
    probabilities: Type.Record(Type.String(), Probability, { description: 'Of every option' }),
    confidence: Confidence,
  }),
  Type.Object({
    type: Type.Literal('score'),
    score: Type.Number({
      description: 'Levels weighted by their probabilities: between 1 and the number of levels',
    }),
    legend: Type.Record(Type.String(), Words, { description: 'Labels of the levels, from `1`' }),
    probabilities: Type.Record(Type.String(), Probability, { description: 'Of every level' }),
    confidence: Confidence,
  }),
]);
export type DecisionAnswer = Static<typeof DecisionAnswer>;

export const DecisionsResponse = Titled('DecisionsResponse', {
  id: Type.String({ description: 'Id of the response' }),
  model: Type.String({ description: 'The model that answered' }),
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
