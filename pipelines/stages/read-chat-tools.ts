/** Tools and tool choice as the chat dialect writes them, in; ours, out. 400 for a choice that the tools do not allow. */
import type { ChatRequest } from '../../schemas/chat.ts';
import { fail } from '../../src/errors.ts';
import type { Tool, ToolChoice } from '../../src/ports/chat.ts';
import { checkStrict } from './strict-schema.ts';

export const readTools = (tools: ChatRequest['tools']): readonly Tool[] => {
  if (tools === undefined || tools.length === 0) return none;
  return tools.map(({ function: tool }, at) => {
    if (tool.strict === true && tool.parameters !== undefined) {
      checkStrict(tool.parameters, `tools[${at}].function.parameters`);
    }
    const { name, description, parameters, strict } = tool;
    return {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { parameters }),
      ...(strict !== undefined && { strict }),
    };
  });
};

const none: readonly Tool[] = [];

export const readToolChoice = (choice: ChatRequest['tool_choice'], tools: readonly Tool[]): ToolChoice => {
  if (choice === undefined) return tools.length > 0 ? 'auto' : 'none';
  if (choice === 'none') return choice;
  if (tools.length === 0) throw fail('invalid_request', 'tool_choice needs tools unless it is none');
  if (typeof choice === 'string') return choice;
  const { name } = choice.function;
  if (!tools.some((tool) => tool.name === name)) {
    throw fail('invalid_request', `tool_choice.function.name must name one of tools: there is no ${name}`);
  }
  return { name };
};
