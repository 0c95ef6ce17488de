/** Encodes a chat call as a body of `POST /chat/completions` that all known servers take. */
import type { Model } from '../../../../schemas/catalog.ts';
import type { EngineRow } from '../../../../schemas/engines.ts';
import type { AnswerFormat, ChatCall, Sampling, Thinking, Tool, ToolChoice } from '../../../ports/chat.ts';
import { quoted } from '../../../quoted.ts';
import { remembered } from '../../../remembered.ts';
import type { OutgoingBody } from '../../outgoing-body.ts';
import { messageJson } from './encode-message.ts';
import { LargeMedia } from './large-media.ts';

type Body = Record<string, unknown>;

export const encodeChat = (model: Model, call: ChatCall, row: EngineRow): OutgoingBody => {
  const large = new LargeMedia();
  // What every call says is put together as text, of few pieces: half the cost of an object with all of it.
  let json = opening(model.served_as);
  let comma = '';
  for (const message of call.messages) {
    json += comma + messageJson(message, large);
    comma = ',';
  }
  // The older name is the one all of them know; a server that knows only the newer says so in its row.
  json += (row.limit_field === undefined ? '],"max_tokens":' : `],"${row.limit_field}":`) + call.maxTokens;
  if (call.stream) json += streamed;
  json += samplingJson(call.sampling);
  const options = optional(model, call);
  return large.putBack(isEmpty(options) ? `${json}}` : `${json},${JSON.stringify(options).slice(1)}`);
};

const mostModels = 1000;
const opening = remembered<string, string>(mostModels, (name) =>
  ['{"model":', quoted(name), ',"messages":['].join(''),
);

const streamed = ',"stream":true,"stream_options":{"include_usage":true}';

/** Most calls say some of it. */
const samplingJson = (sampling: Sampling): string => {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, repetitionPenalty, seed } = sampling;
  let json = '';
  if (temperature !== undefined) json += `,"temperature":${fractionText(temperature)}`;
  if (topP !== undefined) json += `,"top_p":${fractionText(topP)}`;
  // "Off" is 0 for a Sluice and -1 for SGLang, each refusing the other's; more than any vocabulary is off for all.
  if (topK !== undefined) json += `,"top_k":${topK === 0 ? 1 << 30 : topK}`;
  if (frequencyPenalty !== undefined) json += `,"frequency_penalty":${frequencyPenalty}`;
  if (presencePenalty !== undefined) json += `,"presence_penalty":${presencePenalty}`;
  if (repetitionPenalty !== undefined) json += `,"repetition_penalty":${repetitionPenalty}`;
  if (seed !== undefined) json += `,"seed":${seed}`;
  return json;
};

const mostFractions = 1000;

/** V8 has a table of such texts too, in which 0.7 and most of its kind have the place of 0: 130 ns for two that take turns. */
const fractionText = remembered<number, string>(mostFractions, String);

const isEmpty = (body: Body): boolean => {
  for (const _ in body) return false;
  return true;
};

/** What few calls say. */
const optional = (model: Model, call: ChatCall): Body => {
  const body: Body = {};
  if (call.n > 1) body.n = call.n;
  if (call.stop.length > 0) body.stop = call.stop;
  if (call.user !== undefined) body.user = call.user;
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
  addThinking(body, model, call.thinking);
  return body;
};

const addTools = (body: Body, call: ChatCall): void => {
  if (call.tools.length === 0) return;
  body.tools = call.tools.map(encodeTool);
  // `auto` is the default beside tools, and some servers want a flag set before they hear it said.
  if (call.toolChoice !== 'auto') body.tool_choice = encodeToolChoice(call.toolChoice);
  if (call.parallelToolCalls !== undefined) body.parallel_tool_calls = call.parallelToolCalls;
};

/** Keys without a value fall away in JSON. */
const encodeTool = (tool: Tool) => ({
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

/** Said in the fields the model's row names; without any, in the fields of the chat-completions shape itself. */
const addThinking = (body: Body, model: Model, { effort, budget }: Thinking): void => {
  const reasoning = model.reasoning;
  if (reasoning === undefined) return;
  const wire = reasoning.wire ?? { effort_field: 'reasoning_effort' };
  const off = effort === 'none';
  if (effort !== undefined) {
    if (wire.enabled_field !== undefined) setField(body, wire.enabled_field, !off);
    if (wire.off_field !== undefined && off) setField(body, wire.off_field, effort);
    const switchSaysOff = off && (wire.enabled_field ?? wire.off_field) !== undefined;
    if (wire.effort_field !== undefined && !switchSaysOff) setField(body, wire.effort_field, effort);
  }
  if (budget === undefined || off) return;
  const budgetField =
    wire.budget_field ?? (reasoning.supports_max_tokens === true ? 'reasoning.max_tokens' : undefined);
  if (budgetField !== undefined) setField(body, budgetField, budget);
};

/** `chat_template_kwargs.enable_thinking` sets a field of an inner object, which is made when it is missing. */
const setField = (body: Body, path: string, value: unknown): void => {
  const names = path.split('.');
  const last = names.pop() ?? path;
  let target = body;
  for (const name of names) {
    const inner = Object.hasOwn(target, name) ? target[name] : undefined;
    const next: Body = typeof inner === 'object' && inner !== null ? { ...inner } : {};
    target[name] = next;
    target = next;
  }
  target[last] = value;
};
