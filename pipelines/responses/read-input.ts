/** Reads instructions and input items of a responses request; each turn of the model becomes one message. */

import type { InputItem, ReadItem } from '../../schemas/responses/input.ts';
import type { ResponsesRequest } from '../../schemas/responses/request.ts';
import type { ChatMessage, TextContent, ToolCall, UserContent } from '../../src/ports/engines/chat.ts';
import type { MediaCollector } from '../conversation/media-parts.ts';
import { invalid, required } from '../core/checks.ts';
import { readFunctionOutput, readResponsesText, readResponsesUserContent } from './read-content.ts';
import type { ToolNames } from './tool-names.ts';

export const readResponsesInput = (
  { instructions, input }: Pick<ResponsesRequest, 'instructions' | 'input'>,
  names: ToolNames,
  media: MediaCollector,
): readonly ChatMessage[] => {
  const conversation = new Conversation(names, media);
  if (instructions !== undefined && instructions !== '') conversation.addText('system', instructions);
  if (typeof input === 'string') conversation.addText('user', input);
  else for (const [at, item] of input.entries()) conversation.add(item, `input[${at}]`);
  return conversation.end();
};

interface Turn {
  readonly content: TextContent[];
  readonly toolCalls: ToolCall[];
}

class Conversation {
  readonly #names: ToolNames;
  readonly #collector: MediaCollector;
  readonly #messages: ChatMessage[] = [];
  /** The model's turn, while nothing else has come after it. */
  #turn: Turn | undefined;
  /** Ids of all calls so far. */
  #calls: Set<string> | undefined;
  /** Path of the last call of the turn, which needs an output. */
  #pending: string | undefined;
  /** Media of the function outputs so far. */
  #media: UserContent[] = [];

  constructor(names: ToolNames, media: MediaCollector) {
    this.#names = names;
    this.#collector = media;
  }

  addText(role: 'system' | 'user', text: string): void {
    this.#messages.push({ role, content: [{ type: 'text', text }] });
  }

  add(item: InputItem, path: string): void {
    switch (item.type) {
      case undefined:
      case 'message':
        this.#message(item, path);
        break;
      case 'agent_message':
        // From another agent of the client: it says so in its text.
        this.#message({ role: 'user', ...(item.content !== undefined && { content: item.content }) }, path);
        break;
      case 'function_call':
        this.#call(item, required(item.arguments, `${path}.arguments`), path);
        break;
      case 'custom_tool_call':
        this.#call(item, JSON.stringify({ input: required(item.input, `${path}.input`) }), path);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#output(item, path);
        break;
      case 'item_reference':
        checkReference(required(item.id, `${path}.id`), path);
        break;
      case 'compaction':
      case 'compaction_summary':
      case 'context_compaction':
      case 'compaction_trigger':
        throw invalid(`${path}.type ${item.type} is not supported: send the conversation itself`);
      default:
      // Tools are read beforehand. Clients send reasoning back with the text it led to; no engine takes it, nor
      // calls of tools that it does not know.
    }
  }

  end(): readonly ChatMessage[] {
    if (this.#pending !== undefined) throw invalid(`${this.#pending} needs a function_call_output after it`);
    this.#flushMedia();
    if (this.#messages.length === 0) throw invalid('input must hold a message or a function call');
    return this.#messages;
  }

  #message({ role, content }: Pick<ReadItem, 'role' | 'content'>, path: string): void {
    required(role, `${path}.role`);
    const field = `${path}.content`;
    const given = required(content, field);
    if (role === 'assistant') {
      this.#modelTurn().content.push(...readResponsesText(given, field, role));
      return;
    }
    if (given.length === 0 && typeof given !== 'string') throw invalid(`${field} must have at least 1 item`);
    this.#endModelTurn();
    this.#flushMedia();
    this.#messages.push(
      role === 'system' || role === 'developer'
        ? { role, content: readResponsesText(given, field, role) }
        : { role: 'user', content: readResponsesUserContent(given, field, this.#collector) },
    );
  }

  #call({ call_id, name, namespace }: ReadItem, text: string, path: string): void {
    const id = required(call_id, `${path}.call_id`);
    this.#calls ??= new Set();
    this.#calls.add(id);
    this.#pending = path;
    this.#modelTurn().toolCalls.push({
      id,
      name: this.#names.called(namespace, required(name, `${path}.name`)),
      arguments: text,
    });
  }

  #output({ call_id, output }: ReadItem, path: string): void {
    this.#endModelTurn();
    const field = `${path}.output`;
    const callId = required(call_id, `${path}.call_id`);
    if (this.#calls?.has(callId) !== true)
      throw invalid(`${path}.call_id must be the id of a call before it: there is no ${callId}`);
    this.#messages.push({
      role: 'tool',
      callId,
      content: readFunctionOutput(required(output, field), field, this.#media, this.#collector),
    });
  }

  #modelTurn(): Turn {
    if (this.#turn !== undefined) return this.#turn;
    this.#flushMedia();
    const turn = { role: 'assistant' as const, content: [], toolCalls: [] };
    this.#messages.push(turn);
    this.#turn = turn;
    return turn;
  }

  #endModelTurn(): void {
    this.#turn = undefined;
    this.#pending = undefined;
  }

  /** After the last of the outputs it belongs to: those must directly follow their calls. */
  #flushMedia(): void {
    if (this.#media.length === 0) return;
    this.#messages.push({ role: 'user', content: this.#media });
    this.#media = [];
  }
}

/** Reasoning would be left out anyway; whatever else is referred to is missing from the conversation. */
const checkReference = (id: string, path: string): void => {
  if (!id.startsWith('rs_'))
    throw invalid(
      `${path}.type item_reference is not supported: nothing is stored, so send the item itself (clients do with store: false)`,
    );
};
