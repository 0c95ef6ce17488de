/** Decodes the events of a streamed message: one array of parts per read. */

import type { ApiError } from '../../../errors.ts';
import { copied } from '../../../helpers/copied.ts';
import type { JsonText, Parts } from '../../../ports/engines/chat.ts';
import type { StreamDecoder } from '../../wire.ts';
import { isObject, type Json, tryParse } from '../shared/json.ts';
import { unreadable } from '../shared/json-picker.ts';
import { endOfText, isJsonText } from '../shared/json-text.ts';
import { SseDecoder } from '../shared/sse-decoder.ts';
import { type DeltaKind, MessageDecoder } from './decode-message.ts';

/** What surrounds the text of a delta; all deltas of a block have it in common. */
interface Skeleton {
  readonly prefix: string;
  readonly suffix: string;
  readonly kind: DeltaKind;
}

/** Skeletons in a row that never matched: this server changes something in every event, so learning does not pay. */
const uselessLimit = 16;
const textField = /"(?:text|thinking|partial_json)"\s*:\s*"/;
const probe = 'text goes here';
/** Between its braces, Anthropic's server writes spaces, a different number with every event. */
const padded = '"}}';
const space = 32;
const quote = 34;
const brace = 125;

export class MessageStreamDecoder implements StreamDecoder {
  readonly #events: SseDecoder;
  readonly #message: MessageDecoder;
  /** Of the open block. */
  #skeleton: Skeleton | undefined;
  #useless = 0;
  #done = false;
  /** No more bytes come. */
  #ending = false;

  /** `skeletons` is false in tests that compare the two ways to read a delta. */
  constructor(thinks: boolean, skeletons = true) {
    this.#message = new MessageDecoder(thinks);
    this.#useless = skeletons ? 0 : uselessLimit;
    this.#events = new SseDecoder((text, start, end, name) => this.#event(text, start, end, name));
  }

  get done(): boolean {
    return this.#done;
  }

  get failure(): ApiError | undefined {
    return this.#message.failure;
  }

  push(bytes: Buffer): Parts {
    this.#events.push(bytes);
    return this.#message.take();
  }

  end(): Parts {
    this.#ending = true;
    this.#events.end();
    this.#end();
    return this.#message.take();
  }

  #end(): void {
    if (!this.#done) this.#message.end();
    this.#done = true;
  }

  #event(text: string, start: number, end: number, name: string): void {
    if (this.#done || this.#message.failure !== undefined || name === 'ping') return;
    const skeleton = this.#skeleton;
    const found = skeleton === undefined ? undefined : match(skeleton, text, start, end);
    if (skeleton !== undefined && found !== undefined) {
      this.#useless = 0;
      this.#message.grow(skeleton.kind, found);
    } else this.#parse(text.slice(start, end));
  }

  #parse(json: string): void {
    const event = tryParse(json);
    if (!isObject(event)) {
      // Some servers end with it, as in their other API.
      if (json.trim() === '[DONE]') this.#end();
      // What it carried would be missing. One that the connection broke off counts for nothing: what ended before it did.
      else if (event !== undefined || !this.#ending)
        this.#message.failure = unreadable(new Error('An event is no JSON object'));
      return;
    }
    this.#message.push(event);
    if (event.type === 'message_stop') this.#end();
    if (event.type === 'content_block_delta') this.#learn(json, event);
    else this.#skeleton = undefined;
  }

  #learn(json: string, event: Json): void {
    if (this.#useless >= uselessLimit) return;
    this.#skeleton = learn(json, event);
    if (this.#skeleton !== undefined) this.#useless++;
  }
}

/** The text of a delta in this skeleton; undefined for another event. */
const match = (
  { prefix, suffix }: Skeleton,
  text: string,
  start: number,
  end: number,
): JsonText | undefined => {
  const from = start + prefix.length;
  if (from > end || text.slice(start, from) !== prefix) return undefined;
  let to = end - suffix.length;
  if (to < from || text.slice(to, end) !== suffix) {
    to = suffix === padded ? paddingStart(text, end) : -1;
    if (to < from) return undefined;
  }
  return isJsonText(text, from, to) ? (text.slice(from, to) as JsonText) : undefined;
};

/** Index of the quote before two braces with spaces around them; below 0 when there is none. */
const paddingStart = (text: string, end: number): number => {
  let braces = 0;
  for (let at = end - 1; at >= 0; at--) {
    const character = text.charCodeAt(at);
    if (character === brace) braces++;
    else if (character !== space) return character === quote && braces === 2 ? at : -1;
  }
  return -1;
};

/**
 * It is proved before it is used: with another text in its place the event must read the same. As what stands between
 * two quotes of JSON has no say in how the rest is read, that holds for every text.
 */
const learn = (json: string, event: Json): Skeleton | undefined => {
  const found = textField.exec(json);
  const delta = textDelta(event);
  if (found === null || delta === undefined) return undefined;
  const from = found.index + found[0].length;
  const rest = json.slice(endOfText(json, from));
  const suffix = rest.replaceAll(' ', '') === padded ? padded : rest;
  const prefix = json.slice(0, from);
  const proof = tryParse(prefix + probe + suffix);
  const proved = isObject(proof) ? textDelta(proof) : undefined;
  if (proved?.kind !== delta.kind || proved.index !== delta.index || proved.text !== probe) return undefined;
  return { prefix: copied(prefix), suffix: copied(suffix), kind: delta.kind };
};

const fields: Readonly<Record<string, DeltaKind>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

const textDelta = ({ index, delta }: Json) => {
  if (!isObject(delta) || typeof delta.type !== 'string') return undefined;
  const kind = fields[delta.type];
  const text = kind === undefined ? undefined : delta[kind];
  return kind === undefined || typeof text !== 'string' ? undefined : { kind, index, text };
};
