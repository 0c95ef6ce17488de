/** Reads tools and tool choice of a messages request: 400 for a choice that the tools do not allow. */
import type { CountTokensRequest } from '../../schemas/messages/request.ts';
import type { Tool, ToolChoice } from '../../src/ports/engines/chat.ts';
import { noTools } from '../conversation/chat-task.ts';
import { readSchema } from '../conversation/read-schema.ts';
import { invalid } from '../core/checks.ts';
import { freeJson } from '../core/parse-json.ts';

type InputTool = NonNullable<CountTokensRequest['tools']>[number];

export const readMessagesTools = (tools: CountTokensRequest['tools']): readonly Tool[] =>
  tools === undefined ? noTools : tools.map(readTool);

const readTool = (tool: InputTool, at: number): Tool => {
  const { name, input_schema, strict } = tool;
  const description = describe(tool);
  return {
    name,
    ...(description !== undefined && { description }),
    parameters: readSchema(input_schema, `tools[${at}].input_schema`),
    ...(strict !== undefined && { strict }),
  };
};

/** Engines have no field for examples. */
const describe = ({ description, input_examples }: InputTool) => {
  if (input_examples === undefined || input_examples.length === 0) return description;
  const examples = input_examples.map((example) => JSON.stringify(freeJson(example)));
  return [...(description === undefined ? [] : [description, '']), 'Examples of input:', ...examples].join(
    '\n',
  );
};

export const readMessagesToolChoice = (
  choice: CountTokensRequest['tool_choice'],
  tools: readonly Tool[],
): ToolChoice => {
  if (choice === undefined) return tools.length > 0 ? 'auto' : 'none';
  const { type, name } = choice;
  if (type === 'none') return type;
  if (tools.length === 0) throw invalid('tool_choice needs tools unless its type is none');
  if (type !== 'tool') return type === 'any' ? 'required' : type;
  if (name === undefined) throw invalid('tool_choice.name is required when its type is tool');
  if (!tools.some((tool) => tool.name === name))
    throw invalid(`tool_choice.name must name one of tools: there is no ${name}`);
  return { name };
};
