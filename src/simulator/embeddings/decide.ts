/** Decides questions by the words that the state and the answers share. */
import { defer, mergeMap, type Observable } from 'rxjs';
import type { AllowedAnswer, Decided, DecisionCall, DecisionQuestion } from '../../ports/engines/decision.ts';
import { countTokens } from '../../tokens/simulator.ts';
import { readDirectives } from '../directives.ts';
import { withFaults } from '../faults.ts';
import { inTicks } from '../in-ticks.ts';
import type { Ticker } from '../ticker.ts';
import { embedText, type VectorShape } from './embed-text.ts';
import { tellingStems } from './lexicon.ts';

/** What the simulator knows of a state; read once for all questions. */
interface Reading {
  readonly vector: Float32Array;
  readonly stems: ReadonlySet<string>;
}

const shape: VectorShape = { dimensions: 1024, nested: false };
/** How sure a likeness makes. */
const sureness = 12;

export const simulateDecisions = (call: DecisionCall, ticker: Ticker): Observable<Decided> =>
  defer(() => {
    const line = readDirectives(call.state, 'state');
    const reading = { vector: embedText(line.rest, shape), stems: new Set(tellingStems(line.rest)) };
    const contextTokens = countTokens(call.context);
    const decide = (index: number): Decided[] => {
      const question = call.questions[index];
      if (question === undefined) return [];
      const tokens =
        line.directives.usage === 'off' ? undefined : contextTokens + countTokens(question.prompt);
      return [{ question: index, logprobs: logprobsOf(question, reading), tokens }];
    };
    return inTicks(call.questions.length, decide).pipe(
      mergeMap(({ results }) => results.flat()),
      withFaults(line.directives, ticker),
    );
  });

const logprobsOf = ({ type, instructions, answers }: DecisionQuestion, state: Reading): readonly number[] => {
  const isPlain = answers.every(({ description }) => description === undefined);
  if (type === 'noul' && isPlain) return yesOrNo(instructions, state);
  return answers.map((answer) => sureness * likeness(state.vector, answer));
};

/** Yes, as far as the words of the question are in the state. */
const yesOrNo = (instructions: string, state: Reading): readonly number[] => {
  const stems = tellingStems(instructions);
  const found = stems.filter((word) => state.stems.has(word)).length;
  const share = stems.length === 0 ? 0.5 : found / stems.length;
  return [(sureness / 2) * (share - 0.5), 0];
};

const likeness = (state: Float32Array, { name, description }: AllowedAnswer): number => {
  const answer = embedText(description === undefined ? name : `${name} ${description}`, shape);
  let sum = 0;
  for (let index = 0; index < answer.length; index++) sum += (answer[index] ?? 0) * (state[index] ?? 0);
  return sum;
};
