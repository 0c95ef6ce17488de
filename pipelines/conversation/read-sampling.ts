/** Reads the sampling of a request; what it leaves out is the model's default, or the contract's. */
import type { Model } from '../../schemas/catalog.ts';
import type { ChatRequest } from '../../schemas/chat/request.ts';
import type { Sampling } from '../../src/ports/engines/chat.ts';
import { engineSeed, invalid } from '../core/checks.ts';

/** Not left to engines, whose own are those of a model's files, or of the server. */
const temperature = 1;
const topP = 1;

type SamplingFields = Partial<
  Pick<
    ChatRequest,
    | 'temperature'
    | 'top_p'
    | 'top_k'
    | 'frequency_penalty'
    | 'presence_penalty'
    | 'repetition_penalty'
    | 'logit_bias'
    | 'seed'
  >
>;

const noDefaults: NonNullable<Model['default_parameters']> = {};

export const readSampling = (body: SamplingFields, model: Model): Sampling => {
  const defaults = model.default_parameters ?? noDefaults;
  const sampling: { -readonly [Name in keyof Sampling]: Sampling[Name] } = {
    temperature: body.temperature ?? defaults.temperature ?? temperature,
    topP: body.top_p ?? defaults.top_p ?? topP,
  };
  const topK = body.top_k ?? defaults.top_k;
  if (topK !== undefined) sampling.topK = topK;
  const frequencyPenalty = body.frequency_penalty ?? defaults.frequency_penalty;
  if (frequencyPenalty !== undefined) sampling.frequencyPenalty = frequencyPenalty;
  const presencePenalty = body.presence_penalty ?? defaults.presence_penalty;
  if (presencePenalty !== undefined) sampling.presencePenalty = presencePenalty;
  const repetitionPenalty = body.repetition_penalty ?? defaults.repetition_penalty;
  if (repetitionPenalty !== undefined) sampling.repetitionPenalty = repetitionPenalty;
  if (body.logit_bias !== undefined) sampling.logitBias = checkLogitBias(body.logit_bias);
  if (body.seed !== undefined) sampling.seed = engineSeed(body.seed);
  return sampling;
};

const checkLogitBias = (bias: Readonly<Record<string, number>>): Readonly<Record<string, number>> => {
  for (const token in bias) {
    if (!/^\d{1,9}$/.test(token)) throw invalid('logit_bias must have ids of tokens as its keys');
  }
  return bias;
};
