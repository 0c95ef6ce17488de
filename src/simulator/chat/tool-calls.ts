/** Makes tool calls with arguments that are valid for each tool. */
import { fail } from '../../errors.ts';
import type { ChatCall, Tool, ToolCall } from '../../ports/engines/chat.ts';
import type { Random } from '../random.ts';
import { SchemaProblem } from '../schema/budget.ts';
import { schemaInstance } from '../schema/instance.ts';
import type { Conversation } from './conversation.ts';

export function makeToolCalls(
  call: ChatCall,
  conversation: Conversation,
  random: Random,
): readonly ToolCall[] {
  const tools = chooseTools(call, conversation, random);
  const [first] = tools;
  if (first === undefined) return [];
  const count = call.parallelToolCalls === false ? 1 : (wishes(conversation).calls ?? 1);
  const hints = [...conversation.hints];
  return Array.from({ length: count }, (_, index) => {
    const tool = tools[index % tools.length] ?? first;
    // Each call starts with a hint of its own: "the weather in Paris and Rome" asks about both.
    const offered = { topics: conversation.topics, hints: [...hints.slice(index), ...hints.slice(0, index)] };
    const own = random.fork(`call ${index}`);
    return {
      id: `call_${own.hex(24)}`,
      name: tool.name,
      arguments:
        conversation.directives.arguments ??
        JSON.stringify(
          makeArguments(tool, call.tools.indexOf(tool), own, {
            ...offered,
            schemaWork: conversation.schemaWork,
          }),
        ),
    };
  });
}

/** Wishes for tools are spent once a tool has answered: otherwise a client's loop would never end. */
function wishes({ directives, results }: Conversation): { tool?: string; calls?: number } {
  return results.length > 0 ? {} : directives;
}

function chooseTools(call: ChatCall, conversation: Conversation, random: Random): readonly Tool[] {
  const { tools, toolChoice } = call;
  if (toolChoice === 'none' || tools.length === 0) return [];
  if (typeof toolChoice === 'object') return [named(tools, toolChoice.name, 'tool_choice')];
  const { tool, calls } = wishes(conversation);
  if (tool !== undefined) return [named(tools, tool, 'messages: /sim tool')];
  const suggested = tools.filter((one) => isSuggested(one, conversation.question));
  const isForced = toolChoice === 'required' || calls !== undefined;
  if (!isForced && conversation.results.length > 0) return [];
  if (suggested.length > 0 || !isForced) return suggested;
  const start = random.integer(0, tools.length - 1);
  return [...tools.slice(start), ...tools.slice(0, start)];
}

function named(tools: readonly Tool[], name: string, field: string): Tool {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw fail('invalid_request', `${field} names no tool of this request: "${name}"`);
  return tool;
}

/** Words of tool names that say what is done, not what it is about. */
const verbs = new Set(
  'get set put add run call make create update delete remove list find fetch lookup search query read write show send check current new all the for from tool function'.split(
    ' ',
  ),
);

/** A question suggests a tool when it has a word of its name: `get_weather` and "What is the weather like?" */
function isSuggested(tool: Tool, question: string): boolean {
  const parts = tool.name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part.length > 2);
  const telling = parts.filter((part) => !verbs.has(part));
  const words = new Set(
    question
      .slice(0, 2000)
      .toLowerCase()
      .match(/[a-z0-9]+/g),
  );
  if (words.size === 0) return false;
  return (telling.length > 0 ? telling : parts).some((part) => words.has(part));
}

function makeArguments(
  tool: Tool,
  index: number,
  random: Random,
  offered: Pick<Conversation, 'topics' | 'hints' | 'schemaWork'>,
): unknown {
  try {
    return tool.parameters === undefined
      ? {}
      : schemaInstance({ type: 'object', ...tool.parameters }, random, offered, offered.schemaWork);
  } catch (thrown) {
    if (!(thrown instanceof SchemaProblem)) throw thrown;
    throw fail('invalid_request', `tools[${index}].function.parameters ${thrown.message}`, { cause: thrown });
  }
}
