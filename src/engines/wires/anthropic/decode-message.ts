/** Turns the events of a message, or a whole one, into parts; holds all state of a call. */
import { type ApiError, asApiError, fail } from '../../../errors.ts';
import {
  type FinishReason,
  type JsonText,
  type Part,
  type Parts,
  toJsonText,
} from '../../../ports/engines/chat.ts';
import { isObject, type Json, parseObject } from '../shared/json.ts';
import { unreadable } from '../shared/json-picker.ts';
import { reportedError } from '../shared/reported-error.ts';
import { ThinkTags } from '../shared/think-tags.ts';
import { ToolUses } from './tool-uses.ts';
import { MessageUsage } from './usage.ts';

/** Characters; a signature may hold the encrypted thought. */
const mostSignature = 4 * 1024 * 1024;
const nothing: Parts = [];

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** The one block that grows. Types that are not known here are `other`, and left out. */
interface Block {
  readonly index: unknown;
  readonly type: 'text' | 'thinking' | 'tool_use' | 'other';
  signature: string;
  /** Of a call, until any of its arguments was emitted. */
  input: Json | undefined;
}

/** What a delta adds to; the name is that of its field. */
export type DeltaKind = 'text' | 'thinking' | 'partial_json';

export class MessageDecoder {
  /** The engine's own failure; nothing after it counts. */
  failure: ApiError | undefined;
  readonly #usage = new MessageUsage();
  /** Present for models that reason: some servers leave tags in the text. */
  readonly #tags: ThinkTags | undefined;
  /** Created with the first part and given away, as an array that lives on would keep texts alive. */
  #parts: Part[] | undefined;
  #block: Block | undefined;
  readonly #calls = new ToolUses((part) => this.#emit(part));
  #finished = false;

  constructor(thinks: boolean) {
    this.#tags = thinks
      ? new ThinkTags({
          text: (text) => this.#emit({ type: 'text', choice: 0, text }),
          reasoning: (text) => this.#emit({ type: 'reasoning', choice: 0, text }),
        })
      : undefined;
  }

  /** What came since the last time. */
  take(): Parts {
    const parts = this.#parts ?? nothing;
    this.#parts = undefined;
    return parts;
  }

  /** An event, parsed. Unknown types are ignored, as the format wants it; one of the wrong shape is a failure. */
  push(event: Json): void {
    try {
      this.failure = event.type === 'error' ? errorOf(event) : reportedError(event);
      if (this.failure === undefined && typeof event.type !== 'string')
        throw unreadable(new Error('An event has no type'));
      if (this.failure === undefined) this.#push(event);
    } catch (thrown) {
      this.failure = asApiError(thrown);
    }
  }

  /** A whole message. */
  pushWhole(message: Json): void {
    this.failure = message.type === 'error' ? errorOf(message) : reportedError(message);
    if (this.failure !== undefined) return;
    if (!Array.isArray(message.content)) throw unreadable(new Error('The answer has no content'));
    message.content.forEach((block: unknown, index) => {
      this.#start(index, block);
    });
    this.#usage.add(message.usage, true);
    this.#finish(message);
  }

  /** A piece of the open block. */
  grow(kind: DeltaKind, text: JsonText): void {
    if (text === '' || this.#finished) return;
    if (kind === 'thinking') {
      this.#tags?.stop();
      this.#emit({ type: 'reasoning', choice: 0, text });
    } else if (kind === 'partial_json') this.#arguments(text);
    else if (this.#tags === undefined) this.#emit({ type: 'text', choice: 0, text });
    else this.#tags.push(text);
  }

  /** The message is over; one that has no reason to stop was broken off. */
  end(): void {
    if (this.failure !== undefined) return;
    if (!this.#finished) {
      this.failure = fail('engine_unreachable', 'The engine ended its answer early');
      return;
    }
    const usage = this.#usage.tokens();
    if (usage !== undefined) this.#emit({ type: 'usage', usage });
  }

  #push(event: Json): void {
    if (event.type === 'message_delta') {
      this.#usage.add(event.usage, true);
      if (event.delta != null) this.#finish(objectOf(event.delta));
    } else if (!this.#finished) this.#pushContent(event);
  }

  #pushContent(event: Json): void {
    switch (event.type) {
      case 'message_start':
        if (isObject(event.message)) this.#usage.add(event.message.usage);
        break;
      case 'content_block_start':
        this.#start(event.index, event.content_block);
        break;
      case 'content_block_delta':
        this.#delta(event.index, objectOf(event.delta));
        break;
      case 'content_block_stop':
        this.#close();
    }
  }

  /** What a block has from the beginning: all of it in a whole message, mostly nothing in a stream. */
  #start(index: unknown, block: unknown): void {
    this.#close();
    const content = objectOf(block);
    switch (content.type) {
      case 'text':
        this.#open(index, 'text');
        this.#delta(index, { type: 'text_delta', text: content.text ?? '' });
        break;
      case 'thinking':
        this.#open(index, 'thinking');
        this.#delta(index, { type: 'thinking_delta', thinking: content.thinking ?? '' });
        this.#delta(index, { type: 'signature_delta', signature: content.signature ?? '' });
        break;
      case 'tool_use':
        this.#call(content);
        this.#open(index, 'tool_use').input = isObject(content.input) ? content.input : {};
        break;
      default:
        this.#open(index, 'other');
    }
  }

  #open(index: unknown, type: Block['type']): Block {
    this.#block = { index, type, signature: '', input: undefined };
    return this.#block;
  }

  /** Its own type says what a delta is: some servers send text within the block of a call. */
  #delta(index: unknown, delta: Json): void {
    switch (delta.type) {
      case 'text_delta':
        this.grow('text', toJsonText(textOf(delta.text)));
        break;
      case 'thinking_delta':
        this.grow('thinking', toJsonText(textOf(delta.thinking)));
        break;
      case 'input_json_delta':
        if (this.#block?.index !== index) throw outOfOrder();
        this.grow('partial_json', toJsonText(textOf(delta.partial_json)));
        break;
      case 'signature_delta':
        this.#sign(textOf(delta.signature));
    }
  }

  #sign(signature: string): void {
    if (this.#block?.type !== 'thinking') return;
    this.#block.signature += signature;
    if (this.#block.signature.length > mostSignature)
      throw fail('engine_unreachable', 'The engine sent a signature that is too long');
  }

  #call(content: Json): void {
    const name = this.#calls.nameOf(content);
    this.#calls.fill();
    this.#tags?.flush();
    this.#calls.begin(name, content.id);
  }

  #arguments(text: JsonText): void {
    if (this.#block?.type === 'other') return;
    if (this.#block?.type !== 'tool_use') throw outOfOrder();
    this.#block.input = undefined;
    this.#calls.grow(text);
  }

  #close(): void {
    const block = this.#block;
    this.#block = undefined;
    if (block?.type === 'tool_use') this.#calls.bare = block.input;
    if (block === undefined || block.signature === '') return;
    this.#emit({ type: 'reasoning', choice: 0, text: toJsonText(''), signature: block.signature });
  }

  #finish({ stop_reason: native, stop_sequence: sequence }: Json): void {
    if (typeof native !== 'string' || this.#finished) return;
    this.#close();
    const reason = reasons.get(native) ?? 'stop';
    // A call that was cut off before its arguments has none, not empty ones.
    if (reason === 'length' && isEmpty(this.#calls.bare)) this.#calls.bare = undefined;
    this.#calls.fill();
    this.#tags?.flush();
    this.#finished = true;
    this.#emit({
      type: 'finish',
      choice: 0,
      reason: reason === 'stop' && this.#calls.count > 0 ? 'tool_calls' : reason,
      native,
      ...(typeof sequence === 'string' && sequence !== '' && { stopSequence: sequence }),
    });
  }

  #emit(part: Part): void {
    if (this.#parts === undefined) this.#parts = [part];
    else this.#parts.push(part);
  }
}

export const decodeWhole = (body: Buffer, thinks: boolean): Parts => {
  const decoder = new MessageDecoder(thinks);
  decoder.pushWhole(parseObject(body.toString('utf8')));
  decoder.end();
  if (decoder.failure !== undefined) throw decoder.failure;
  return decoder.take();
};

/** What is there and has another shape would be missing from the response. */
const objectOf = (value: unknown): Json => {
  if (!isObject(value)) throw unreadable(new Error('An event has no object where it must'));
  return value;
};

const textOf = (value: unknown): string => {
  if (typeof value !== 'string') throw unreadable(new Error('A delta has no text'));
  return value;
};

const isEmpty = (input: Json | undefined): boolean => input !== undefined && Object.keys(input).length === 0;

const errorOf = (event: Json): ApiError =>
  reportedError(event) ?? fail('engine_unreachable', 'The engine reported an error', { cause: event });

const outOfOrder = (): ApiError =>
  fail('engine_unreachable', 'The engine sent its answer in an order that makes no sense');
