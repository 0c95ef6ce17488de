/** Frames a conversation in the messages format: one message, or its events. */

import type { Observer } from 'rxjs';
import { isObject } from '../../src/helpers/json-schema.ts';
import { quoted } from '../../src/helpers/quoted.ts';
import { fromJsonText, type JsonText } from '../../src/ports/engines/chat.ts';
import { jsonTextReply, type Reply } from '../../src/ports/exchange.ts';
import type { Signature } from '../../src/signatures/signing.ts';
import { estimatePrompt } from '../../src/tokens/prompt.ts';
import type { ChatTask } from '../conversation/chat-task.ts';
import { StreamFrame } from '../conversation/frame-stream.ts';
import type { SettledPart, SettledParts } from '../conversation/settle.ts';
import { type Framing, responseKey } from '../core/frame.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import { MessageEvents, messagesStreamHead } from './frame-stream.ts';
import { type Finish, finishJson, type MessageForm, messageJson } from './message-json.ts';
import type { MessagesFraming } from './read-request.ts';
import { toToolUseId } from './tool-use-ids.ts';

export const frameMessages: Transform<SettledParts, Reply, Framing<ChatTask<MessagesFraming>>> = transform(
  (next, { exchange, task }) => {
    const { model, call, promptTokens, framing } = task;
    const form: MessageForm = {
      id: `msg_${responseKey(exchange)}`,
      model: model.id,
      thinker: model,
      stop: call.stop,
      hidesThinking: framing.hidesThinking,
      signer: framing.signer,
    };
    return call.stream
      ? new StreamFrame(
          next,
          messagesStreamHead,
          new MessageEvents(form, promptTokens ?? estimatePrompt(call)),
        )
      : new MessagesWhole(next, form);
  },
);

class MessagesWhole extends Forwarder<SettledParts, Reply> {
  readonly #form: MessageForm;
  readonly #content: Content;

  constructor(receiver: Observer<Reply>, form: MessageForm) {
    super(receiver);
    this.#form = form;
    this.#content = new Content(form);
  }

  next(parts: SettledParts): void {
    for (const part of parts) {
      if (part.type === 'usage') {
        const ending = finishJson(this.#content.finish, this.#form);
        const json = messageJson(this.#form, this.#content.json(), ending, part.usage);
        this.receiver.next(jsonTextReply(json));
        this.receiver.complete();
      } else {
        this.#content.add(part);
      }
    }
  }
}

type Block =
  | { readonly type: 'text'; text: JsonText }
  // The engine's own signature ends a thought.
  | { readonly type: 'thinking'; text: JsonText; signature: string | undefined }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; text: JsonText };

const nothing = '' as JsonText;

/** The blocks of one message as they grow; all text stays escaped. */
class Content {
  finish: Finish | undefined;
  readonly #form: MessageForm;
  readonly #blocks: Block[] = [];

  constructor(form: MessageForm) {
    this.#form = form;
  }

  add(part: Exclude<SettledPart, { type: 'usage' }>): void {
    switch (part.type) {
      case 'text':
        this.#grow('text', part.text);
        break;
      case 'reasoning':
        this.#think(part.text, part.signature);
        break;
      case 'tool-call':
        this.#blocks.push({ type: 'tool_use', id: toToolUseId(part.id), name: part.name, text: nothing });
        break;
      case 'tool-arguments':
        this.#grow('tool_use', part.text);
        break;
      case 'finish':
        this.finish = part;
    }
  }

  #grow(type: Block['type'], text: JsonText): void {
    if (text === '') return;
    const last = this.#blocks.at(-1);
    if (last?.type === type) last.text = (last.text + text) as JsonText;
    else if (type === 'text') this.#blocks.push({ type, text });
  }

  #think(text: JsonText, signature: string | undefined): void {
    if (text === '' && signature === undefined) return;
    const last = this.#blocks.at(-1);
    if (last?.type === 'thinking' && last.signature === undefined) {
      last.text = (last.text + text) as JsonText;
      last.signature = signature;
    } else this.#blocks.push({ type: 'thinking', text, signature });
  }

  json(): string {
    return this.#blocks.map((block) => this.#blockJson(block)).join(',');
  }

  #blockJson(block: Block): string {
    switch (block.type) {
      case 'text':
        // Without `citations`: AI SDK 6 rejects null there, in whole messages only.
        return `{"type":"text","text":"${block.text}"}`;
      case 'thinking':
        return this.#thinkingJson(block.text, block.signature);
      case 'tool_use':
        return `{"type":"tool_use","id":${quoted(block.id)},"name":${quoted(block.name)},"input":${inputJson(block.text)}}`;
    }
  }

  #thinkingJson(text: JsonText, engineSignature: string | undefined): string {
    const { hidesThinking, signer, thinker } = this.#form;
    const signature =
      engineSignature === undefined ? signed(signer.begin(), text) : signer.seal(engineSignature, thinker);
    return `{"type":"thinking","thinking":"${hidesThinking ? '' : text}","signature":${quoted(signature)}}`;
  }
}

const signed = (signature: Signature, text: JsonText): string => {
  signature.add(text);
  return signature.end();
};

/**
 * Arguments as the object that this format requires. A model may have been cut off within them, or have written no JSON
 * at all; its text is then wrapped in the object that clients of this format know for it.
 */
const inputJson = (text: JsonText): string => {
  const input = fromJsonText(text);
  if (input.trim() === '') return '{}';
  return isJsonObject(input) ? input : `{"INVALID_JSON":"${text}"}`;
};

const isJsonObject = (text: string): boolean => {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
};
