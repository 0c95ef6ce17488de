/** Encodes a chat call as a body of `POST /chat/completions` that all known servers take. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { EngineRow } from '../../../../schemas/engines.ts';
import { quoted } from '../../../helpers/quoted.ts';
import { remembered } from '../../../helpers/remembered.ts';
import type { AnswerFormat, ChatCall, Sampling, Tool, ToolChoice } from '../../../ports/engines/chat.ts';
import type { OutgoingBody } from '../../http1/outgoing-body.ts';
import { LargeMedia } from '../shared/large-media.ts';
import { addThinkingFields } from '../shared/thinking-fields.ts';
import { messageJson } from './encode-message.ts';

type Body = Record<string, unknown>;

export const encodeChat = (model: Model, call: ChatCall, row: EngineRow): OutgoingBody => {
  const large = new LargeMedia();
  // Common fields are concatenated: half the time of serializing an object with all of them.
  let json = opening(model.served_as);
  let comma = '';
  for (const message of call.messages) {
    json += comma + messageJson(message, large);
    comma = ',';
  }
  // All servers know the older name but those whose row names the newer.
  json += (row.limit_field === undefined ? '],"max_tokens":' : `],"${row.limit_field}":`) + call.maxTokens;
  if (call.stream) json += streamed;
  json += samplingJson(call.sampling, call.n);
  const options = optional(model, call);
  return large.putBack(isEmpty(options) ? `${json}}` : `${json},${JSON.stringify(options).slice(1)}`);
};

const mostModels = 1000;
const opening = remembered<string, string>(mostModels, (name) =>
  ['{"model":', quoted(name), ',"messages":['].join(''),
);

export const streamed = ',"stream":true,"stream_options":{"include_usage":true}';

/** What servers refuse although it has a meaning: 0 is greedy, or as close to it as a sampler gets. */
const smallestTopP = 1e-6;
const smallestPenalty = 0.01;
/** vLLM takes no smaller one for several choices. */
const nearlyGreedy = 0.01;

/** Most calls set some of it; `n` choices of one prompt. */
export const samplingJson = (sampling: Sampling, n: number): string => {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, repetitionPenalty, seed } = sampling;
  let json = '';
  if (temperature !== undefined)
    json += `,"temperature":${fractionText(temperature === 0 && n > 1 ? nearlyGreedy : temperature)}`;
  if (topP !== undefined) json += `,"top_p":${fractionText(topP === 0 ? smallestTopP : topP)}`;
  // "Off" is 0 for a Sluice and -1 for SGLang, each refusing the other's; more than any vocabulary is off for all.
  if (topK !== undefined) json += `,"top_k":${topK === 0 ? 1 << 30 : topK}`;
  if (frequencyPenalty !== undefined) json += `,"frequency_penalty":${frequencyPenalty}`;
  if (presencePenalty !== undefined) json += `,"presence_penalty":${presencePenalty}`;
  if (repetitionPenalty !== undefined)
    json += `,"repetition_penalty":${repetitionPenalty || smallestPenalty}`;
  if (seed !== undefined) json += `,"seed":${seed}`;
  return json;
};

const mostFractions = 1000;

/** V8's own cache of number strings maps 0.7 and most such values to one slot: 130 ns for two that alternate. */
const fractionText = remembered<number, string>(mostFractions, String);

const isEmpty = (body: Body): boolean => {
  for (const _ in body) return false;
  return true;
};

/** What few calls set. */
const optional = (model: Model, call: ChatCall): Body => {
  const body: Body = { ...call.forwarded };
  if (call.n > 1) body.n = call.n;
  if (call.stop.length > 0) body.stop = call.stop;
  if (call.user !== undefined) body.user = call.user;
  if (call.sampling.logitBias !== undefined) body.logit_bias = call.sampling.logitBias;
  if (call.logprobs !== undefined) {
    body.logprobs = true;
    body.top_logprobs = call.logprobs.top;
  }
  if (call.continueFinal) {
    body.continue_final_message = true;
    body.add_generation_prompt = false;
  }
  addTools(body, call);
  addFormat(body, call.format);
  addThinkingFields(body, model, call.thinking);
  return body;
};

const addTools = (body: Body, call: ChatCall): void => {
  if (call.tools.length === 0) return;
  body.tools = call.tools.map(encodeTool);
  // `auto` is the default beside tools, and some servers reject it without a flag.
  if (call.toolChoice !== 'auto') body.tool_choice = encodeToolChoice(call.toolChoice);
  if (call.parallelToolCalls !== undefined) body.parallel_tool_calls = call.parallelToolCalls;
};

/** JSON omits undefined values. */
export const encodeTool = (tool: Tool) => ({
  type: 'function',
  function: {
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    strict: tool.strict,
  },
});

const encodeToolChoice = (choice: ToolChoice) =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };

const addFormat = (body: Body, format: AnswerFormat): void => {
  if (format.type === 'json_object') body.response_format = { type: 'json_object' };
  if (format.type === 'json_schema') {
    const { name, schema, strict, description } = format;
    body.response_format = { type: 'json_schema', json_schema: { name, description, schema, strict } };
  }
};
