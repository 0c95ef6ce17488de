/**
 * How likely each answer is after a prompt, from the completions route: the prompt with each answer behind it, echoed
 * with the log-probabilities of its tokens. vLLM, SGLang, Aphrodite and llama-cpp-python give these; llama.cpp's own
 * server, TGI and Ollama do not.
 */
import type { AllowedAnswer } from '../../../ports/decision.ts';
import { JsonPicker, type Pick, unreadable } from '../../json-picker.ts';
import type { PickDecoder } from '../../pick-reader.ts';
import type { Continuations, DecisionWire } from '../../wire.ts';
import { parsedField } from './fields.ts';
import { reportedError } from './words.ts';

export const continuationWire: DecisionWire['continuations'] = {
  path: '/completions',
  encode: (model, prompt, answers) =>
    JSON.stringify({
      model: model.served_as,
      prompt: answers.map(({ label }) => prompt + label),
      echo: true,
      logprobs: 1,
      // The least that vLLM takes: what it makes of it is dropped.
      max_tokens: 1,
      temperature: 0,
    }),
  decode: (answers) => new ContinuationDecoder(answers),
};

/** Of one echoed prompt. */
interface Echo {
  index: number | undefined;
  tokens: unknown;
  logprobs: unknown;
}

const newEcho = (): Echo => ({ index: undefined, tokens: undefined, logprobs: undefined });

class ContinuationDecoder implements PickDecoder<Continuations> {
  readonly #answers: readonly AllowedAnswer[];
  readonly #picker: JsonPicker;
  readonly #logprobs: (number | undefined)[];
  #promptTokens: number | undefined;
  #choices = 0;
  #echo = newEcho();
  readonly #fields: Record<string, unknown> = {};

  constructor(answers: readonly AllowedAnswer[]) {
    this.#answers = answers;
    this.#logprobs = answers.map(() => undefined);
    this.#picker = new JsonPicker(this.#answer());
  }

  push(bytes: Buffer): void {
    this.#picker.push(bytes);
  }

  end(): Continuations {
    this.#picker.end();
    const failure = reportedError(this.#fields);
    if (failure !== undefined) throw failure;
    const logprobs = this.#logprobs.filter((logprob) => logprob !== undefined);
    if (logprobs.length !== this.#answers.length)
      throw unreadable(new Error('The engine gave no log-probabilities of its prompts'));
    return { logprobs, tokens: this.#promptTokens };
  }

  /** A long prompt makes a long list of alternatives for each token, which is passed over. */
  #answer(): Pick {
    const lists: Pick = {
      keys: new Map<string, Pick>([
        ['tokens', parsedField((value) => Object.assign(this.#echo, { tokens: value }))],
        ['token_logprobs', parsedField((value) => Object.assign(this.#echo, { logprobs: value }))],
      ]),
    };
    const choice: Pick = {
      keys: new Map<string, Pick>([
        ['index', parsedField((value) => Object.assign(this.#echo, { index: value }))],
        ['logprobs', lists],
      ]),
      end: () => this.#endChoice(),
    };
    const field = (name: string): [string, Pick] => [
      name,
      parsedField((value) => Object.assign(this.#fields, { [name]: value })),
    ];
    return {
      keys: new Map<string, Pick>([
        ['choices', { items: choice }],
        ...['error', 'object', 'message', 'code', 'type'].map(field),
      ]),
    };
  }

  #endChoice(): void {
    const { index = this.#choices, tokens, logprobs } = this.#echo;
    this.#choices++;
    this.#echo = newEcho();
    const answer = this.#answers[index];
    if (answer === undefined || !Array.isArray(tokens) || !Array.isArray(logprobs)) return;
    const found = findLabel(tokens, answer.label);
    if (found === undefined) return;
    const own: unknown[] = logprobs.slice(found.start, found.end);
    if (!own.every((logprob) => typeof logprob === 'number')) return;
    this.#logprobs[index] = own.reduce((sum, logprob) => sum + logprob, 0);
    this.#promptTokens ??= found.start;
  }
}

/**
 * Which tokens are the label: the last ones, but for the one the engine made itself. Servers write white space inside
 * tokens in several ways, and it tells the answers apart in none.
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
      if (text === wanted) return { start, end };
    }
  }
  return undefined;
};

/** Without spaces, line ends and the signs that vocabularies have for them. */
const bare = (token: string): string => token.replace(/[\s\u2581\u0120\u010a]|<0x0A>/g, '');
