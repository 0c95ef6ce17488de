/** Reads chat requests independently of the gateway's own parsing, as a foreign engine would. */
import { fail } from '../../errors.ts';
import { isObject } from '../../helpers/json-schema.ts';
import type { AnswerFormat, ChatCall, Effort, Thinking, Tool, ToolChoice } from '../../ports/engines/chat.ts';
import { efforts } from '../chat/thinking.ts';
import {
  type JsonObject,
  optionalArray,
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalObject,
  optionalString,
  required,
} from './fields.ts';
import { readMessages } from './read-messages.ts';

export interface ChatRequest {
  readonly model: string;
  readonly call: ChatCall;
  readonly includeUsage: boolean;
}

const defaultMaxTokens = 4096;

export function readRequest(value: unknown): ChatRequest {
  if (!isObject(value)) throw fail('invalid_request', 'The body must be a JSON object');
  const tools = (optionalArray(value.tools, 'tools') ?? []).map(readTool);
  const options = optionalObject(value.stream_options, 'stream_options');
  const call: ChatCall = {
    messages: readMessages(value.messages),
    stream: optionalBoolean(value.stream, 'stream') ?? false,
    maxTokens:
      optionalCount(value.max_completion_tokens, 'max_completion_tokens', 1) ??
      optionalCount(value.max_tokens, 'max_tokens', 1) ??
      defaultMaxTokens,
    n: optionalCount(value.n, 'n', 1) ?? 1,
    continueFinal: readContinuation(value),
    thinking: readThinking(value),
    sampling: readSeed(value.seed),
    stop: readStop(value.stop),
    logprobs: optionalBoolean(value.logprobs, 'logprobs')
      ? { top: optionalCount(value.top_logprobs, 'top_logprobs', 0) ?? 0 }
      : undefined,
    tools,
    toolChoice: readToolChoice(value.tool_choice),
    parallelToolCalls: optionalBoolean(value.parallel_tool_calls, 'parallel_tool_calls'),
    format: readFormat(value.response_format),
    user: undefined,
  };
  return {
    model: required(optionalString(value.model, 'model'), 'model'),
    call,
    includeUsage: optionalBoolean(options?.include_usage, 'stream_options.include_usage') ?? false,
  };
}

function readContinuation(body: JsonObject): boolean {
  const continues = optionalBoolean(body.continue_final_message, 'continue_final_message') ?? false;
  if (continues && optionalBoolean(body.add_generation_prompt, 'add_generation_prompt') === true) {
    throw fail('invalid_request', 'Cannot set both continue_final_message and add_generation_prompt to true');
  }
  return continues;
}

/** Engines use different fields; all of them are read. */
function readThinking(body: JsonObject): Thinking {
  const reasoning = optionalObject(body.reasoning, 'reasoning') ?? {};
  const template = optionalObject(body.chat_template_kwargs, 'chat_template_kwargs') ?? {};
  const effort = body.reasoning_effort ?? reasoning.effort ?? template.reasoning_effort ?? undefined;
  const enabled = template.enable_thinking ?? template.thinking ?? reasoning.enabled ?? body.enable_thinking;
  const budget =
    body.thinking_token_budget ?? body.thinking_budget ?? reasoning.max_tokens ?? template.thinking_budget;
  if (effort !== undefined && !isEffort(effort)) {
    throw fail('invalid_request', `reasoning_effort must be one of ${efforts.join(', ')}`);
  }
  return {
    effort: enabled === false ? 'none' : (effort ?? (enabled === true ? 'medium' : undefined)),
    budget: optionalCount(budget, 'thinking_token_budget', 0),
  };
}

const isEffort = (value: unknown): value is Effort => typeof value === 'string' && efforts.includes(value);

function readSeed(value: unknown): { seed?: number } {
  const seed = optionalNumber(value, 'seed');
  return seed === undefined ? {} : { seed };
}

export function readStop(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return (optionalArray(value, 'stop') ?? []).map((stop, index) =>
    required(optionalString(stop, `stop[${index}]`), `stop[${index}]`),
  );
}

function readTool(value: unknown, index: number): Tool {
  const field = `tools[${index}].function`;
  const target = isObject(value) ? optionalObject(value.function, field) : undefined;
  const { name, description, parameters, strict } = required(target, field);
  const schema = optionalObject(parameters, `${field}.parameters`);
  return {
    name: required(optionalString(name, `${field}.name`), `${field}.name`),
    ...(typeof description === 'string' ? { description } : {}),
    ...(schema === undefined ? {} : { parameters: schema }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}

function readToolChoice(value: unknown): ToolChoice {
  if (value === undefined || value === null) return 'auto';
  if (value === 'none' || value === 'auto' || value === 'required') return value;
  const target = isObject(value) ? optionalObject(value.function, 'tool_choice.function') : undefined;
  const name = optionalString(target?.name, 'tool_choice.function.name');
  if (name === undefined)
    throw fail('invalid_request', 'tool_choice must be none, auto, required or a function');
  return { name };
}

function readFormat(value: unknown): AnswerFormat {
  const format = optionalObject(value, 'response_format');
  switch (format?.type) {
    case undefined:
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json_object' };
    case 'json_schema': {
      const field = 'response_format.json_schema';
      const inner = required(optionalObject(format.json_schema, field), field);
      const name = optionalString(inner.name, `${field}.name`) ?? 'answer';
      const schema = required(optionalObject(inner.schema, `${field}.schema`), `${field}.schema`);
      return { type: 'json_schema', name, schema };
    }
    default:
      throw fail('invalid_request', 'response_format.type must be text, json_object or json_schema');
  }
}
