/** Refuses fields that would change the answer but cannot be honoured: a 400 names each. */
import { type ApiError, type ErrorKind, fail } from '../../src/errors.ts';
import { isObject } from '../../src/json-schema.ts';
import type { JsonObject } from '../core/parse-json.ts';
import type { Step } from '../core/stage.ts';

/** Before validation: what such a request lacks otherwise is no matter. */
export const refuseUnsupported: Step<JsonObject, JsonObject, unknown> = (body) => {
  // By what was sent, which is little.
  for (const name in body) {
    const value = body[name];
    if (value !== null) refusals.get(name)?.(value, name);
  }
  return body;
};

/** Throws where the value cannot be honoured. */
type Refuse = (value: unknown, field: string) => void;

const unsupported = (field: string, why: string, kind: ErrorKind = 'unsupported_parameter'): ApiError =>
  fail(kind, `${field} is not supported: ${why}`);

const always =
  (why: string, kind?: ErrorKind): Refuse =>
  (_, field) => {
    throw unsupported(field, why, kind);
  };

const refuseMcpServers: Refuse = (value, field) => {
  if (!Array.isArray(value) || value.length > 0)
    throw unsupported(field, 'the gateway connects to no MCP servers');
};

const refuseGeo: Refuse = (value, field) => {
  if (value !== 'global') throw unsupported(field, 'the operator chooses where models run');
};

const refuseTools: Refuse = (tools, field) => {
  if (!Array.isArray(tools)) return;
  tools.forEach((tool: unknown, at) => {
    if (!isObject(tool) || typeof tool.type !== 'string' || tool.type === 'custom') return;
    if ((tool.input_schema ?? null) === null)
      throw unsupported(
        `${field}[${at}].type ${tool.type.slice(0, 100)}`,
        'server tools are not run here, and other tools need an input_schema',
      );
  });
};

const refuseTaskBudget: Refuse = (config, field) => {
  if (isObject(config) && (config.task_budget ?? null) !== null)
    throw unsupported(`${field}.task_budget`, 'models are not told of budgets');
};

/** Other edits only remove what a model has seen; it is sent all of it. */
const refuseCompaction: Refuse = (management, field) => {
  if (!isObject(management) || !Array.isArray(management.edits)) return;
  management.edits.forEach((edit: unknown, at) => {
    if (isObject(edit) && typeof edit.type === 'string' && edit.type.startsWith('compact'))
      throw unsupported(
        `${field}.edits[${at}].type ${edit.type.slice(0, 100)}`,
        'conversations are not compacted here',
      );
  });
};

const chatOnly = always('it belongs to /chat/completions');

const refusals: ReadonlyMap<string, Refuse> = new Map<string, Refuse>([
  // Clients that know the code send the whole conversation instead.
  ['thread', always('nothing is stored; send the whole conversation', 'thread_unsupported')],
  ['compaction', always('conversations are not compacted here')],
  ['container', always('server tools are not run here')],
  ['context_management', refuseCompaction],
  ['inference_geo', refuseGeo],
  ['mcp_servers', refuseMcpServers],
  ['output_config', refuseTaskBudget],
  ['tools', refuseTools],
  ...[
    'frequency_penalty',
    'logit_bias',
    'logprobs',
    'max_completion_tokens',
    'n',
    'parallel_tool_calls',
    'presence_penalty',
    'reasoning',
    'reasoning_effort',
    'repetition_penalty',
    'response_format',
    'seed',
    'stop',
    'top_logprobs',
  ].map((name) => [name, chatOnly] as const),
]);
