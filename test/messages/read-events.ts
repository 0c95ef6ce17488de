/** A strict reader of messages streams: returns the whole message, or throws. */
import { Compile } from 'typebox/compile';
import { Message, MessageEvent, type OutputBlock } from '../../schemas/messages/response.ts';

const isEvent = Compile(MessageEvent);
const isMessage = Compile(Message);

export interface ReadStream {
  /** As whole as the stream made it; absent when it broke off. */
  readonly message: Message | undefined;
  /** Blocks that were begun, the last perhaps not ended. */
  readonly blocks: readonly OutputBlock[];
  readonly error: string | undefined;
  readonly pings: number;
}

export const readEvents = (text: string): ReadStream => {
  const reader = new EventReader();
  for (const event of splitEvents(text)) reader.read(event);
  return reader.end();
};

const splitEvents = (text: string): MessageEvent[] => {
  if (!text.endsWith('\n\n')) throw new Error('the last event is not closed');
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      const [, name, data] = /^event: (\w+)\ndata: ([^\r\n]*)$/.exec(block) ?? [];
      if (name === undefined || data === undefined) throw new Error(`not an event and its data: ${block}`);
      const event: unknown = JSON.parse(data);
      if (!isEvent.Check(event)) throw new Error(`${JSON.stringify(isEvent.Errors(event))} in ${data}`);
      if (event.type !== name) throw new Error(`${name} holds ${event.type}`);
      return event;
    });
};

/** Whole messages wrap arguments that are not a JSON object in one. */
export const inputOf = (text: string): Record<string, unknown> => {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Wrapped below, like all that is no object.
  }
  return { INVALID_JSON: text };
};

const deltas = {
  text: ['text_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
};

class EventReader {
  #message: Message | undefined;
  readonly #blocks: OutputBlock[] = [];
  #open: OutputBlock | undefined;
  #input = '';
  #ended = false;
  #error: string | undefined;
  #stopped = false;
  #pings = 0;

  read(event: MessageEvent): void {
    if (this.#stopped) throw new Error(`${event.type} after message_stop`);
    if (event.type === 'ping') {
      this.#pings++;
      return;
    }
    if ((this.#message === undefined) !== (event.type === 'message_start')) {
      throw new Error(`${event.type} in the wrong place`);
    }
    if (this.#error !== undefined && event.type !== 'message_stop')
      throw new Error(`${event.type} after error`);
    if (this.#ended && event.type !== 'message_stop') throw new Error(`${event.type} after message_delta`);
    this.#take(event);
  }

  #take(event: Exclude<MessageEvent, { type: 'ping' }>): void {
    switch (event.type) {
      case 'message_start':
        if (event.message.content.length > 0 || event.message.stop_reason !== null)
          throw new Error('not a start');
        this.#message = event.message;
        break;
      case 'content_block_start':
        this.#start(event.index, event.content_block);
        break;
      case 'content_block_delta':
        this.#grow(event);
        break;
      case 'content_block_stop':
        this.#stop(event.index);
        break;
      case 'message_delta':
        if (this.#open !== undefined || this.#message === undefined)
          throw new Error('message_delta amid a block');
        this.#ended = true;
        this.#message = {
          ...this.#message,
          ...event.delta,
          usage: { ...this.#message.usage, ...event.usage },
        };
        break;
      case 'error':
        this.#error = event.error.message;
        break;
      case 'message_stop':
        if (!this.#ended && this.#error === undefined) throw new Error('message_stop without an end');
        this.#stopped = true;
    }
  }

  #start(index: number, block: OutputBlock): void {
    if (this.#open !== undefined) throw new Error('a block inside a block');
    if (index !== this.#blocks.length) throw new Error(`block ${index} out of order`);
    const empty =
      block.type === 'text'
        ? block.text === ''
        : block.type === 'thinking'
          ? block.thinking === '' && block.signature === ''
          : Object.keys(block.input).length === 0;
    if (!empty) throw new Error('a block that does not start empty');
    this.#open = block;
    this.#input = '';
    this.#blocks.push(block);
  }

  #grow({ index, delta }: Extract<MessageEvent, { type: 'content_block_delta' }>): void {
    const block = this.#open;
    if (block === undefined || index !== this.#blocks.length - 1) throw new Error('a delta of no open block');
    if (!deltas[block.type].includes(delta.type)) throw new Error(`${delta.type} in ${block.type}`);
    if (block.type === 'thinking' && block.signature !== '') throw new Error('a delta after the signature');
    if (block.type === 'text' && delta.type === 'text_delta') block.text += delta.text;
    if (block.type === 'thinking' && delta.type === 'thinking_delta') block.thinking += delta.thinking;
    if (block.type === 'thinking' && delta.type === 'signature_delta') block.signature = delta.signature;
    if (delta.type === 'input_json_delta') this.#input += delta.partial_json;
  }

  #stop(index: number): void {
    const block = this.#open;
    if (block === undefined || index !== this.#blocks.length - 1) throw new Error('the end of no open block');
    if (block.type === 'thinking' && block.signature === '') throw new Error('a thought without a signature');
    if (block.type === 'text' && block.text === '') throw new Error('an empty text');
    if (block.type === 'tool_use') block.input = inputOf(this.#input);
    this.#open = undefined;
  }

  end(): ReadStream {
    if (!this.#stopped) throw new Error('no message_stop');
    const message =
      this.#error === undefined && this.#message ? { ...this.#message, content: this.#blocks } : undefined;
    if (message !== undefined && !isMessage.Check(message))
      throw new Error(JSON.stringify(isMessage.Errors(message)));
    return { message, blocks: this.#blocks, error: this.#error, pings: this.#pings };
  }
}
