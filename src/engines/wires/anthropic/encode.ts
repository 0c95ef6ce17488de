/** Encodes a chat call as a body of `POST /messages`: 400 names what the format has no field for. */
import type { Model } from '../../../../schemas/catalog.ts';
import { fail } from '../../../errors.ts';
import type { AnswerFormat, ChatCall, Sampling, Tool, ToolChoice } from '../../../ports/engines/chat.ts';
import type { OutgoingBody } from '../../http1/outgoing-body.ts';
import { LargeMedia } from '../shared/large-media.ts';
import { encodeTurns } from './encode-turns.ts';
import { addThinking, type Body } from './thinking.ts';

export const encodeMessages = (model: Model, call: ChatCall): OutgoingBody => {
  refuseOthers(model, call);
  const large = new LargeMedia();
  const body: Body = {
    ...call.forwarded,
    model: model.served_as,
    max_tokens: call.maxTokens,
    ...encodeTurns(call, model.reasoning !== undefined && call.thinking.effort !== 'none', large),
  };
  if (call.stream) body.stream = true;
  addSampling(body, model, call.sampling);
  if (call.stop.length > 0) body.stop_sequences = call.stop;
  if (call.user !== undefined) body.metadata = { user_id: call.user };
  if (call.tools.length > 0) {
    body.tools = call.tools.map(encodeTool);
    const choice = encodeToolChoice(call.toolChoice, call.parallelToolCalls === false);
    if (choice !== undefined) body.tool_choice = choice;
  }
  if (call.format.type === 'json_schema')
    body.output_config = { format: { type: 'json_schema', schema: call.format.schema } };
  addThinking(body, model, call);
  return large.putBack(JSON.stringify(body));
};

/** Some servers refuse 0. */
const smallestTopP = 1e-6;

/**
 * What is off is left out: the newer models of Anthropic take one of `temperature` and `top_p`, and the newest neither,
 * whose rows leave `temperature` out of `supported_parameters`.
 */
const addSampling = (body: Body, model: Model, { temperature, topP, topK }: Sampling): void => {
  const isNeeded = temperature !== 1 || model.supported_parameters.includes('temperature');
  if (temperature !== undefined && isNeeded) body.temperature = temperature;
  if (topP !== undefined && topP < 1) body.top_p = Math.max(topP, smallestTopP);
  if (topK !== undefined && topK > 0) body.top_k = topK;
};

/** JSON omits undefined values. */
const encodeTool = ({ name, description, parameters, strict }: Tool) => ({
  name,
  description,
  input_schema: { type: 'object', ...parameters },
  strict: strict === true ? true : undefined,
});

/** `auto` is the default beside tools. */
const encodeToolChoice = (choice: ToolChoice, oneAtATime: boolean): Body | undefined => {
  if (choice === 'none') return { type: 'none' };
  if (choice === 'auto' && !oneAtATime) return undefined;
  const limit = oneAtATime ? { disable_parallel_tool_use: true } : {};
  if (choice === 'auto') return { type: 'auto', ...limit };
  return choice === 'required' ? { type: 'any', ...limit } : { type: 'tool', name: choice.name, ...limit };
};

const refuseOthers = (model: Model, { logprobs, sampling, format }: ChatCall): void => {
  const name = logprobs === undefined ? (otherSampling(sampling) ?? otherFormat(format, model)) : 'logprobs';
  if (name !== undefined)
    throw fail('unsupported_parameter', `${name} is not supported by the engine of model ${model.id}`);
};

/** The field without an equal that would change the answer. */
const otherSampling = (sampling: Sampling): string | undefined => {
  const { frequencyPenalty = 0, presencePenalty = 0, repetitionPenalty = 1, seed, logitBias = {} } = sampling;
  if (frequencyPenalty !== 0) return 'frequency_penalty';
  if (presencePenalty !== 0) return 'presence_penalty';
  if (repetitionPenalty !== 1) return 'repetition_penalty';
  if (seed !== undefined) return 'seed';
  return Object.keys(logitBias).length > 0 ? 'logit_bias' : undefined;
};

/** Some servers ignore schemas without a word: their rows leave `response_format` out of `supported_parameters`. */
const otherFormat = ({ type }: AnswerFormat, { supported_parameters }: Model): string | undefined => {
  if (type === 'json_object') return 'response_format json_object';
  const takesSchemas =
    supported_parameters.includes('response_format') || supported_parameters.includes('structured_outputs');
  return type === 'json_schema' && !takesSchemas ? 'response_format json_schema' : undefined;
};
