/** Reads instructions and input items of a responses request; each turn of the model becomes one message. */
import type { InputItem, ResponsesRequest } from '../../schemas/responses.ts';
import type { ChatMessage, TextContent, ToolCall, UserContent } from '../../src/ports/chat.ts';
import type { MediaCollector } from '../conversation/read-media.ts';
import { invalid, required } from '../core/checks.ts';
import { readFunctionOutput, readResponsesText, readResponsesUserContent } from './read-content.ts';

export const readResponsesInput = (
  { instructions, input }: Pick<ResponsesRequest, 'instructions' | 'input'>,
  media: MediaCollector,
): readonly ChatMessage[] => {
  const conversation = new Conversation(media);
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
  readonly #collector: MediaCollector;
  readonly #messages: ChatMessage[] = [];
  /** The model's turn, while nothing else has come after it. */
  #turn: Turn | undefined;
  /** Path of its last call, which needs an output. */
  #pending: string | undefined;
  /** Media of the function outputs so far. */
  #media: UserContent[] = [];

  constructor(media: MediaCollector) {
    this.#collector = media;
  }

  addText(role: 'system' | 'user', text: string): void {
    this.#messages.push({ role, content: [{ type: 'text', text }] });
  }

  add(item: InputItem, path: string): void {
    switch (item.type) {
      case 'function_call':
        this.#call(item, path);
        break;
      case 'function_call_output':
        this.#output(item, path);
        break;
      case 'reasoning':
        // Clients send reasoning back with the text it led to; no engine takes it.
        break;
      case 'item_reference':
        throw invalid(
          `${path}.type item_reference is not supported: nothing is stored, so send the item itself (clients do with store: false)`,
        );
      default:
        this.#message(item, path);
    }
  }

  end(): readonly ChatMessage[] {
    if (this.#pending !== undefined) throw invalid(`${this.#pending} needs a function_call_output after it`);
    this.#flushMedia();
    if (this.#messages.length === 0) throw invalid('input must hold a message or a function call');
    return this.#messages;
  }

  #message({ role, content }: InputItem, path: string): void {
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

  #call({ call_id, name, arguments: text }: InputItem, path: string): void {
    this.#pending = path;
    this.#modelTurn().toolCalls.push({
      id: required(call_id, `${path}.call_id`),
      name: required(name, `${path}.name`),
      arguments: required(text, `${path}.arguments`),
    });
  }

  #output({ call_id, output }: InputItem, path: string): void {
    this.#endModelTurn();
    const field = `${path}.output`;
    this.#messages.push({
      role: 'tool',
      callId: required(call_id, `${path}.call_id`),
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
