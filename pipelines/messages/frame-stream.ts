/** Writes the events of a message. */
import type { ApiError } from '../../src/errors.ts';
import { escaped, quoted } from '../../src/helpers/quoted.ts';
import type { JsonText, TokenUsage } from '../../src/ports/engines/chat.ts';
import type { Signature } from '../../src/signatures/signing.ts';
import { attemptsJson, type EventWriter, type UsagePart } from '../conversation/frame-stream.ts';
import type { SettledPart } from '../conversation/settle.ts';
import { streamHead } from '../core/frame.ts';
import {
  countsJson,
  endingJson,
  type Finish,
  finishJson,
  type MessageForm,
  messageJson,
} from './message-json.ts';
import { toToolUseId } from './tool-use-ids.ts';

const event = (type: string, fields: string): string =>
  `event: ${type}\ndata: {"type":"${type}"${fields}}\n\n`;

export const messagesStreamHead = streamHead(event('ping', ''));
const messageStop = event('message_stop', '');
/** After the text of a delta. */
const deltaEnd = '"}}\n\n';

type BlockType = 'text' | 'thinking' | 'tool_use';

/**
 * Constant text is built once per block and the escaped text spliced in. At most one block is open; each begins, grows
 * and ends before the next one, numbered from 0.
 */
export class MessageEvents implements EventWriter {
  readonly #form: MessageForm;
  #index = -1;
  #open: BlockType | undefined;
  /** A delta of the open block up to its text. Joined, so that it is one flat string. */
  #delta = '';
  #signature: Signature | undefined;
  #finish: Finish | undefined;

  /** An estimate, before the engine has reported it. */
  readonly #promptTokens: number;

  constructor(form: MessageForm, promptTokens: number) {
    this.#form = form;
    this.#promptTokens = promptTokens;
  }

  start(): string {
    const usage: TokenUsage = { prompt: this.#promptTokens, completion: 0, cached: 0, reasoning: 0 };
    return event('message_start', `,"message":${messageJson(this.#form, '', endingJson(null, null), usage)}`);
  }

  of(part: SettledPart): string {
    switch (part.type) {
      case 'text':
        return part.text === '' ? '' : this.#text(part.text);
      case 'reasoning':
        return this.#thinking(part.text, part.signature);
      case 'tool-call':
        return this.#toolUse(part.id, part.name);
      case 'tool-arguments':
        return part.text === '' ? '' : this.#delta + part.text + deltaEnd;
      case 'finish':
        this.#finish = part;
        return this.#close();
      case 'usage':
        return this.#end(part);
    }
  }

  #text(text: JsonText): string {
    if (this.#open === 'text') return this.#delta + text + deltaEnd;
    const start = this.#begin('text', '"text":"","citations":null', 'text_delta', 'text');
    return start + this.#delta + text + deltaEnd;
  }

  /** The engine's own signature ends a thought; of one that is hidden there is nothing else. */
  #thinking(text: JsonText, signature: string | undefined): string {
    let events = '';
    if (text !== '' || signature !== undefined) events = this.#think(text);
    if (signature === undefined) return events;
    const { signer, thinker } = this.#form;
    return events + this.#close(signer.seal(signature, thinker));
  }

  #think(text: JsonText): string {
    let start = '';
    if (this.#open !== 'thinking') {
      start = this.#begin('thinking', '"thinking":"","signature":""', 'thinking_delta', 'thinking');
      this.#signature = this.#form.signer.begin();
    }
    this.#signature?.add(text);
    return this.#form.hidesThinking || text === '' ? start : start + this.#delta + text + deltaEnd;
  }

  #toolUse(id: string, name: string): string {
    const fields = `"id":${quoted(toToolUseId(id))},"name":${quoted(name)},"input":{}`;
    return this.#begin('tool_use', fields, 'input_json_delta', 'partial_json');
  }

  #begin(type: BlockType, fields: string, delta: string, key: string): string {
    const closed = this.#close();
    this.#open = type;
    this.#index++;
    this.#delta = this.#deltaStart(delta, key);
    return `${closed}${event('content_block_start', `,"index":${this.#index},"content_block":{"type":"${type}",${fields}}`)}`;
  }

  #deltaStart(type: string, key: string): string {
    return [
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":',
      this.#index,
      ',"delta":{"type":"',
      type,
      '","',
      key,
      '":"',
    ].join('');
  }

  /** `sealed`: the signature of a thought that its engine has signed. */
  #close(sealed?: string): string {
    if (this.#open === undefined) return '';
    const signature = this.#open === 'thinking' ? this.#sign(sealed ?? this.#signature?.end() ?? '') : '';
    this.#open = undefined;
    return `${signature}${event('content_block_stop', `,"index":${this.#index}`)}`;
  }

  #sign(signature: string): string {
    return this.#deltaStart('signature_delta', 'signature') + escaped(signature) + deltaEnd;
  }

  #end(part: UsagePart): string {
    const ending = finishJson(this.#finish, this.#form);
    const fields = `,"delta":{${ending}},"usage":{${countsJson(part.usage)}}${attemptsJson(part)}`;
    return `${this.#close()}${event('message_delta', fields)}${messageStop}`;
  }

  /** The status has been sent, so every failure has the same type. */
  fail({ message }: ApiError): string {
    return `${event('error', `,"error":{"type":"api_error","message":${JSON.stringify(message)}}`)}${messageStop}`;
  }
}
