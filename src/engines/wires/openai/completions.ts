/** Continues texts by the completions route of OpenAI-like servers. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { CompletionCall } from '../../../ports/engines/completion.ts';
import type { CompletionWire } from '../../wire.ts';
import { readContextFull } from '../shared/context-full.ts';
import { OpenAiStreamDecoder } from './decode-stream.ts';
import { WholeDecoder } from './decode-whole.ts';
import { samplingJson, streamed } from './encode.ts';
import type { AnswerOptions } from './response-decoder.ts';

const wholeAnswers = new WholeDecoder('text');

export const completionWire: CompletionWire = {
  encode: (model, call) => ({ path: '/completions', body: encodeCompletion(model, call) }),
  decodeStream: (_model, call) => new OpenAiStreamDecoder(answerOptions(call)),
  decodeWhole: (_model, call, body) => wholeAnswers.decode(body, answerOptions(call)),
  readContextFull,
};

/** The text is returned as the model writes it: a client of this route parses reasoning itself. */
const answerOptions = ({ prompts, n }: CompletionCall): AnswerOptions => ({
  choices: prompts.length * n,
  thinks: false,
});

export const encodeCompletion = (model: Model, call: CompletionCall): string => {
  const { prompts, n, stop, logprobs, echo, user, sampling, forwarded } = call;
  // Some servers take one text only, and no list of one.
  const prompt = prompts.length === 1 ? prompts[0] : prompts;
  const start = JSON.stringify({ model: model.served_as, prompt, max_tokens: call.maxTokens }).slice(0, -1);
  const options = JSON.stringify({
    ...forwarded,
    ...(n > 1 && { n }),
    ...(stop.length > 0 && { stop }),
    ...(logprobs !== undefined && { logprobs: logprobs.top }),
    ...(echo && { echo }),
    ...(user !== undefined && { user }),
    ...(sampling.logitBias !== undefined && { logit_bias: sampling.logitBias }),
  }).slice(1);
  const comma = options === '}' ? '' : ',';
  return `${start}${call.stream ? streamed : ''}${samplingJson(sampling, n)}${comma}${options}`;
};
