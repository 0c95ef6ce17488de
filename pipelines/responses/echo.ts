/** Renders the request fields that every response object repeats. */

import type { RequestTool } from '../../schemas/responses/input.ts';
import type { ResponsesRequest } from '../../schemas/responses/request.ts';
import type { AnswerFormat } from '../../src/ports/engines/chat.ts';
import { freeJson } from '../core/parse-json.ts';

/** Some clients accept null where others need the field left out: these values suit them all. */
export const responsesEcho = (body: ResponsesRequest, format: AnswerFormat): string => {
  const { reasoning } = body;
  return JSON.stringify({
    instructions: body.instructions ?? null,
    metadata: body.metadata ?? {},
    tools: body.tools?.map(echoTool) ?? [],
    tool_choice: body.tool_choice ?? 'auto',
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    max_tool_calls: null,
    text: { format },
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    max_output_tokens: body.max_output_tokens ?? null,
    temperature: body.temperature ?? null,
    top_p: body.top_p ?? null,
    presence_penalty: body.presence_penalty ?? null,
    frequency_penalty: body.frequency_penalty ?? null,
    top_logprobs: body.top_logprobs ?? 0,
    user: body.user ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    safety_identifier: body.safety_identifier ?? null,
    previous_response_id: null,
    service_tier: 'default',
    truncation: 'disabled',
    background: body.background ?? false,
    store: false,
  }).slice(1, -1);
};

/** Tools that are no plain functions are shown as they came. */
const echoTool = (tool: RequestTool): object => {
  if (tool.type !== 'function') return freeJson(tool);
  const { type, name, description, parameters, strict } = tool;
  return {
    type,
    name,
    description: description ?? null,
    parameters: parameters ?? null,
    strict: strict ?? null,
  };
};
