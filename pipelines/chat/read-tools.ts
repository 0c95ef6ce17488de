/** Reads tools, tool choice and response format of a chat request: 400 for what they do not allow. */

import type { ChatRequest } from '../../schemas/chat/request.ts';
import type { AnswerFormat, Tool, ToolChoice } from '../../src/ports/engines/chat.ts';
import { noTools, plainText } from '../conversation/chat-task.ts';
import { readSchema } from '../conversation/read-schema.ts';
import { invalid, required } from '../core/checks.ts';
import type { JsonObject } from '../core/parse-json.ts';
import { checkStrict } from './strict-schema.ts';

export const readTools = (tools: ChatRequest['tools']): readonly Tool[] => {
  if (tools === undefined || tools.length === 0) return noTools;
  return tools.map(({ function: tool }, at) => readTool(tool, `tools[${at}].function`));
};

type FunctionFields = NonNullable<ChatRequest['tools']>[number]['function'];

/** The function object at `path`, which the chat and responses formats share. */
export const readTool = ({ name, description, parameters, strict }: FunctionFields, path: string): Tool => {
  if (parameters !== undefined) readSchema(parameters, `${path}.parameters`);
  if (strict === true && parameters !== undefined) checkStrict(parameters, `${path}.parameters`);
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(strict !== undefined && { strict }),
  };
};

export const readToolChoice = (choice: ChatRequest['tool_choice'], tools: readonly Tool[]): ToolChoice =>
  chooseTool(typeof choice === 'object' ? choice.function : choice, tools, 'tool_choice.function.name');

/** `nameField` is the field that names one tool. */
export const chooseTool = (
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  nameField: string,
): ToolChoice => {
  if (choice === undefined) return tools.length > 0 ? 'auto' : 'none';
  if (choice === 'none') return choice;
  if (tools.length === 0) throw invalid('tool_choice needs tools unless it is none');
  if (typeof choice === 'string') return choice;
  const { name } = choice;
  if (!tools.some((tool) => tool.name === name))
    throw invalid(`${nameField} must name one of tools: there is no ${name}`);
  return { name };
};

export const readFormat = (format: ChatRequest['response_format']): AnswerFormat => {
  if (format === undefined) return plainText;
  if (format.type !== 'json_schema') return { type: format.type };
  const given = required(format.json_schema, 'response_format.json_schema');
  return schemaFormat(given, given.name, given.schema ?? {}, 'response_format.json_schema.schema');
};

interface FormatFields {
  readonly description?: string;
  readonly strict?: boolean;
}

/** A strict format is the engine's to check: which schemas it can follow differs, and clients send all kinds. */
export const schemaFormat = (
  { description, strict }: FormatFields,
  name: string,
  schema: JsonObject,
  path: string,
): AnswerFormat => {
  readSchema(schema, path);
  return {
    type: 'json_schema',
    name,
    schema,
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  };
};
