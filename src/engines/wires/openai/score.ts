/** Scores answers as continuations of a prompt by the log-probabilities of the completions route. */
import type { AllowedAnswer } from '../../../ports/engines/decision.ts';
import type { Continuations, DecisionWire } from '../../wire.ts';
import { type Pick, unreadable } from '../shared/json-picker.ts';
import { type Fields, failureFields, parsedField, pickingDecoder } from './fields.ts';

/** vLLM, SGLang, Aphrodite and llama-cpp-python support this; llama.cpp's own server, TGI and Ollama do not. */
export const continuationWire: DecisionWire['continuations'] = {
  encode: (model, prompt, answers) => ({
    path: '/completions',
    body: JSON.stringify({
      model: model.served_as,
      prompt: answers.map(({ label }) => prompt + label),
      echo: true,
      logprobs: 1,
      // What the engine makes of its own is dropped.
      max_tokens: 1,
      temperature: 0,
    }),
  }),
  decode: (answers) => {
    const logprobs = answers.map(() => undefined);
    const reading = { answers, logprobs, promptTokens: undefined, choices: 0, echo: {}, fields: {} };
    return pickingDecoder<Reading, Continuations>(answer, reading, continuationsOf);
  },
};

/** A response as far as it has been read. */
interface Reading extends Fields {
  readonly answers: readonly AllowedAnswer[];
  readonly logprobs: (number | undefined)[];
  promptTokens: number | undefined;
  choices: number;
  /** Of the current echoed prompt. */
  echo: Echo;
}

interface Echo {
  index?: number;
  tokens?: unknown;
  logprobs?: unknown;
}

/** A long prompt has a long list of alternatives for each token, which is passed over. */
const choice: Pick<Reading> = {
  keys: new Map<string, Pick<Reading>>([
    [
      'index',
      parsedField((value, { echo }) => {
        if (typeof value === 'number') echo.index = value;
      }),
    ],
    [
      'logprobs',
      {
        keys: new Map<string, Pick<Reading>>([
          [
            'tokens',
            parsedField((value, { echo }) => {
              echo.tokens = value;
            }),
          ],
          [
            'token_logprobs',
            parsedField((value, { echo }) => {
              echo.logprobs = value;
            }),
          ],
        ]),
      },
    ],
  ]),
  end: (reading) => {
    score(reading);
    reading.choices++;
    reading.echo = {};
  },
};

const answer: Pick<Reading> = {
  keys: new Map<string, Pick<Reading>>([['choices', { items: choice }], ...failureFields]),
};

const continuationsOf = ({ logprobs, promptTokens }: Reading): Continuations => {
  const found = logprobs.filter((logprob) => logprob !== undefined);
  if (found.length !== logprobs.length)
    throw unreadable(new Error('The engine gave no log-probabilities of its prompts'));
  return { logprobs: found, tokens: promptTokens };
};

/** The log-probability of the answer after an echoed prompt, if it can be found. */
const score = (reading: Reading): void => {
  const { index = reading.choices, tokens, logprobs } = reading.echo;
  const label = reading.answers[index]?.label;
  if (label === undefined || !Array.isArray(tokens) || !Array.isArray(logprobs)) return;
  const found = findLabel(tokens, label);
  if (found === undefined) return;
  const own: unknown[] = logprobs.slice(found.start, found.end);
  if (!own.every((logprob) => typeof logprob === 'number')) return;
  reading.logprobs[index] = own.reduce((sum, logprob) => sum + logprob, 0);
  reading.promptTokens ??= found.start;
};

/**
 * Which tokens are the label: the last ones, but for the one the engine made itself. Servers write white space inside
 * tokens in several ways, and answers never differ in it alone.
 */
const findLabel = (
  tokens: readonly unknown[],
  label: string,
): { readonly start: number; readonly end: number } | undefined => {
  const wanted = bare(label);
  for (const end of [tokens.length - 1, tokens.length]) {
    let text = '';
    for (let start = end - 1; start >= 0 && text.length < wanted.length; start--) {
      text = bare(String(tokens[start])) + text;
      if (text === wanted) return { start: withSpaces(tokens, start), end };
    }
  }
  return undefined;
};

/** Prompts end with a sign, so spaces before a label are its own: where one answer has them as a token and another has not, they count. */
const withSpaces = (tokens: readonly unknown[], first: number): number => {
  let start = first;
  while (start > 0 && bare(String(tokens[start - 1])) === '') start--;
  return start;
};

/** Without spaces, line ends and the signs that vocabularies have for them. */
const bare = (token: string): string => token.replace(/[\s\u2581\u0120\u010a]|<0x0A>/g, '');
