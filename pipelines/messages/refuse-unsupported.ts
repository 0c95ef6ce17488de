/** Refuses fields of the messages format that cannot be honoured, and those of chat: a 400 names each. */
import { MessagesRequest } from '../../schemas/messages/request.ts';
import type { ErrorKind } from '../../src/errors.ts';
import { isObject } from '../../src/helpers/json-schema.ts';
import {
  dialect,
  namesOf,
  type Refuse,
  refusal,
  refuseFields,
  unsupported,
} from '../conversation/other-fields.ts';
import type { JsonObject } from '../core/parse-json.ts';
import type { Step } from '../core/stage.ts';

/** Before validation: what such a request lacks otherwise is no matter. */
export const refuseUnsupported: Step<JsonObject, JsonObject, unknown> = (body) => {
  refuseFields(messagesFields, body);
  return body;
};

const never = (): boolean => false;

const always = (why: string, kind?: ErrorKind): Refuse => refusal(`: ${why}`, never, kind);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isGlobal = (value: unknown): boolean => value === 'global';

const refuseTools: Refuse = (tools, field) => {
  if (!Array.isArray(tools)) return;
  tools.forEach((tool: unknown, at) => {
    if (!isObject(tool) || typeof tool.type !== 'string' || tool.type === 'custom') return;
    if ((tool.input_schema ?? null) === null)
      throw unsupported(
        `${field}[${at}].type ${tool.type.slice(0, 100)}`,
        ': server tools are not run here, and other tools need an input_schema',
      );
  });
};

const refuseTaskBudget: Refuse = (config, field) => {
  if (isObject(config) && (config.task_budget ?? null) !== null)
    throw unsupported(`${field}.task_budget`, ': models do not see budgets');
};

/** Other edits only remove what a model has seen; it is sent all of it. */
const refuseCompaction: Refuse = (management, field) => {
  if (!isObject(management) || !Array.isArray(management.edits)) return;
  management.edits.forEach((edit: unknown, at) => {
    if (isObject(edit) && typeof edit.type === 'string' && edit.type.startsWith('compact'))
      throw unsupported(
        `${field}.edits[${at}].type ${edit.type.slice(0, 100)}`,
        ': conversations are not compacted here',
      );
  });
};

const chatOnly = always('it belongs to /chat/completions');

export const messagesFields = dialect({
  own: namesOf(MessagesRequest),
  refused: {
    // Clients that know the code send the whole conversation instead.
    thread: always('nothing is stored; send the whole conversation', 'thread_unsupported'),
    compaction: always('conversations are not compacted here'),
    container: always('server tools are not run here'),
    context_management: refuseCompaction,
    inference_geo: refusal(': the operator chooses where models run', isGlobal),
    mcp_servers: refusal(': the gateway connects to no MCP servers', isEmptyList),
    output_config: refuseTaskBudget,
    tools: refuseTools,
    frequency_penalty: chatOnly,
    logit_bias: chatOnly,
    logprobs: chatOnly,
    max_completion_tokens: chatOnly,
    n: chatOnly,
    parallel_tool_calls: chatOnly,
    presence_penalty: chatOnly,
    reasoning: chatOnly,
    reasoning_effort: chatOnly,
    repetition_penalty: chatOnly,
    response_format: chatOnly,
    seed: chatOnly,
    stop: chatOnly,
    top_logprobs: chatOnly,
  },
  instead: { format: 'output_config.format', reasoning: 'thinking', limit: 'max_tokens' },
});
