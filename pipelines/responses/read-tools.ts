/** Reads the tools of a responses request and its tool choice: namespaces and custom tools become functions. */

import type { CustomTool, FunctionTool, RequestTool } from '../../schemas/responses/input.ts';
import type { ResponsesRequest } from '../../schemas/responses/request.ts';
import type { Tool, ToolChoice } from '../../src/ports/engines/chat.ts';
import { readTool } from '../chat/read-tools.ts';
import { noTools } from '../conversation/chat-task.ts';
import { invalid, required } from '../core/checks.ts';
import { type CalledTool, type CalledTools, calledTool, ToolNames } from './tool-names.ts';

export interface ReadTools {
  /** Those that the engine is sent. */
  readonly tools: readonly Tool[];
  readonly names: ToolNames;
  /** Undefined when every call is shown as the engine makes it. */
  readonly called: CalledTools | undefined;
  /** At most this many bytes of the tools are not from the request. */
  readonly addedBytes: number;
}

/** Of all tools together, those in namespaces included. */
const mostTools = 1024;

/** Longer than the JSON that one function has more than the tool it was made of. */
const addedPerTool = 512;

const noNames = new ToolNames([]);
const none: ReadTools = { tools: noTools, names: noNames, called: undefined, addedBytes: 0 };

export const readTools = ({ tools, input }: Pick<ResponsesRequest, 'tools' | 'input'>): ReadTools => {
  const found = findTools(tools, input);
  if (found.length === 0) return none;
  const plain = found.flatMap(({ tool, namespace }) => (namespace === undefined ? [tool.name] : []));
  const names = new ToolNames(plain);
  // A tool that comes twice, as clients send it that load tools step by step, counts as it came last.
  const read = new Map<string, Tool>();
  const called = new Map<string, CalledTool>();
  for (const each of found) {
    const { tool, namespace } = each;
    const name = namespace === undefined ? tool.name : names.add(namespace, tool.name);
    read.set(name, engineTool(each, name));
    if (tool.type === 'custom') called.set(name, calledTool('custom_tool_call', tool.name, namespace));
    else if (namespace !== undefined) called.set(name, calledTool('function_call', tool.name, namespace));
    else called.delete(name);
  }
  return {
    tools: [...read.values()],
    names,
    called: called.size === 0 ? undefined : called,
    addedBytes: called.size * addedPerTool,
  };
};

interface FoundTool {
  readonly tool: FunctionTool | CustomTool;
  readonly path: string;
  readonly namespace?: string;
  /** What the namespace says of itself, on its first tool only: there may be many. */
  readonly about?: string | undefined;
}

const findTools = (
  tools: ResponsesRequest['tools'],
  input: ResponsesRequest['input'],
): readonly FoundTool[] => {
  const found: FoundTool[] = [];
  if (tools !== undefined) addTools(tools, 'tools', found);
  if (typeof input !== 'string') {
    for (const [at, item] of input.entries()) {
      if (item.type !== 'additional_tools' && item.type !== 'tool_search_output') continue;
      const path = `input[${at}].tools`;
      addTools(required(item.tools, path), path, found);
    }
  }
  return found;
};

/** Tools of other types do not run here, and the model does not see them. */
const addTools = (tools: readonly RequestTool[], path: string, found: FoundTool[]): void => {
  for (const [at, tool] of tools.entries()) {
    const place = `${path}[${at}]`;
    if (tool.type === 'function' || tool.type === 'custom') found.push({ tool, path: place });
    if (tool.type === 'namespace') {
      const { name: namespace, description } = tool;
      for (const [index, inner] of tool.tools.entries()) {
        const about = index === 0 ? description : undefined;
        found.push({ tool: inner, path: `${place}.tools[${index}]`, namespace, about });
      }
    }
    if (found.length > mostTools)
      throw invalid(`tools must have at most ${mostTools} items, those in namespaces and in input included`);
  }
};

const engineTool = ({ tool, path, namespace, about }: FoundTool, name: string): Tool => {
  const made = tool.type === 'custom' ? customFunction(tool) : readTool(tool, path);
  if (namespace === undefined) return made;
  const description = [about, made.description].filter(Boolean).join('\n\n');
  return { ...made, name, ...(description !== '' && { description }) };
};

/** A custom tool takes text, which engines cannot ask a model for: it becomes the one parameter. */
const customFunction = ({ name, description, format }: CustomTool): Tool => {
  const grammar =
    format?.type === 'grammar'
      ? `The input must match this grammar (${format.syntax}):\n${format.definition}`
      : undefined;
  const text = [description, grammar].filter(Boolean).join('\n\n');
  return { name, ...(text !== '' && { description: text }), parameters: customParameters };
};

const customParameters = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The input of the tool: plain text, not JSON' } },
  required: ['input'],
  additionalProperties: false,
};

/** The tools and the choice that the engine is sent. */
export const chooseTools = (
  choice: ResponsesRequest['tool_choice'],
  { tools, names }: ReadTools,
): { readonly tools: readonly Tool[]; readonly toolChoice: ToolChoice } => {
  if (choice === undefined || choice === 'auto')
    return { tools, toolChoice: tools.length > 0 ? 'auto' : 'none' };
  if (choice === 'none') return { tools, toolChoice: choice };
  if (choice === 'required') return { tools: demanded(tools), toolChoice: choice };
  switch (choice.type) {
    case 'function':
    case 'custom':
      demanded(tools);
      return { tools, toolChoice: { name: nameOf(choice, names, 'tool_choice') } };
    case 'allowed_tools': {
      const allowed = new Set(
        choice.tools.map((tool, at) =>
          tool.type === 'function' || tool.type === 'custom'
            ? nameOf(tool, names, `tool_choice.tools[${at}]`)
            : undefined,
        ),
      );
      const left = tools.filter(({ name }) => allowed.has(name));
      return choice.mode === 'required'
        ? { tools: demanded(left), toolChoice: 'required' }
        : { tools: left, toolChoice: left.length > 0 ? 'auto' : 'none' };
    }
    default:
      throw invalid(`tool_choice.type ${choice.type} demands a tool that does not run here`);
  }
};

const demanded = (tools: readonly Tool[]): readonly Tool[] => {
  if (tools.length === 0)
    throw invalid(
      'tool_choice needs tools that run here (function, custom, namespace) unless it is none or auto',
    );
  return tools;
};

interface NamedTool {
  readonly name: string;
  readonly namespace?: string;
}

const nameOf = ({ name, namespace }: NamedTool, names: ToolNames, path: string): string => {
  const found = names.find(namespace, name);
  if (found === undefined)
    throw invalid(
      `${path}.name must name one of tools: there is no ${name}${namespace === undefined ? '' : ` in ${namespace}`}`,
    );
  return found;
};
