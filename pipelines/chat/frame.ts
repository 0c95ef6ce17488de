/** Frames a conversation in the chat format: one JSON object, or a stream of chunks. */

import type { Observer } from 'rxjs';
import { quoted } from '../../src/helpers/quoted.ts';
import { remembered } from '../../src/helpers/remembered.ts';
import type { Logprob, TextPart, TokenUsage } from '../../src/ports/engines/chat.ts';
import { jsonTextReply, type Reply, type ReplyBody, type WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { ChatTask } from '../conversation/chat-task.ts';
import { defaultFinish, type Finish } from '../conversation/finishes.ts';
import { StreamFrame } from '../conversation/frame-stream.ts';
import type { SettledPart, SettledParts } from '../conversation/settle.ts';
import { eventStreamHead, type Framing, responseKey } from '../core/frame.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import { type Completion, nativeJson, usageJson } from './completion-json.ts';
import { ChatChunks } from './frame-stream.ts';
import type { ChatFraming } from './read-request.ts';

export const frameChat = (
  ports: Pick<Ports, 'provider'>,
): Transform<SettledParts, Reply, Framing<ChatTask<ChatFraming>>> => {
  const provider = quoted(ports.provider);
  return transform((next, { exchange, task }) => {
    const completion: Completion = {
      id: `chatcmpl-${responseKey(exchange)}`,
      created: Math.floor(Date.now() / 1000),
      model: task.model.id,
      provider,
      choices: task.call.n,
      logprobs: task.call.logprobs !== undefined,
      includeUsage: task.framing.includeUsage,
      extra: task.framing.extra,
    };
    return task.call.stream
      ? new StreamFrame(next, eventStreamHead, new ChatChunks(completion))
      : new ChatWhole(next, completion);
  });
};

export class ChatWhole extends Forwarder<SettledParts, Reply> {
  readonly #completion: Completion;
  readonly #choices: readonly Choice[];

  constructor(receiver: Observer<Reply>, completion: Completion) {
    super(receiver);
    this.#completion = completion;
    this.#choices =
      completion.choices === 1
        ? [new Choice(0)]
        : Array.from({ length: completion.choices }, (_, index) => new Choice(index));
  }

  next(parts: SettledParts): void {
    for (const part of parts) {
      if (part.type === 'usage') {
        this.receiver.next(completionReply(this.#completion, this.#choices, part.usage));
        this.receiver.complete();
      } else {
        this.#choices[part.choice]?.add(part);
      }
    }
  }
}

type Content = Exclude<SettledPart, { type: 'usage' }>;

interface Call {
  readonly id: string;
  readonly name: string;
  text: string;
}

/** One of the n choices as it grows; all text stays escaped. */
class Choice {
  readonly #index: number;
  #text = '';
  /** All of its text so far, where that came as bytes. */
  #written: TextPart | undefined;
  #reasoning: string | undefined;
  #calls: Call[] | undefined;
  #logprobs: Logprob[] | undefined;
  #finish: Finish | undefined;

  constructor(index: number) {
    this.#index = index;
  }

  add(part: Content): void {
    switch (part.type) {
      case 'text':
        this.#addText(part);
        if (part.logprobs !== undefined) this.#addLogprobs(part.logprobs);
        break;
      case 'reasoning':
        if (part.text !== '') this.#reasoning = (this.#reasoning ?? '') + part.text;
        break;
      case 'tool-call':
        this.#calls ??= [];
        this.#calls.push({ id: part.id, name: part.name, text: '' });
        break;
      case 'tool-arguments': {
        // A call is complete before the next one starts.
        const call = this.#calls?.at(-1);
        if (call !== undefined) call.text += part.text;
        break;
      }
      case 'finish':
        this.#finish = part;
    }
  }

  #addText(part: TextPart): void {
    if (part.bytes !== undefined && this.#text === '' && this.#written === undefined) this.#written = part;
    else {
      this.#text += (this.#written?.text ?? '') + part.text;
      this.#written = undefined;
    }
  }

  #addLogprobs(logprobs: readonly Logprob[]): void {
    this.#logprobs ??= [];
    for (const logprob of logprobs) this.#logprobs.push(logprob);
  }

  write(json: JsonBody, withLogprobs: boolean): void {
    const calls = this.#calls;
    json.add(
      this.#index === 0 ? firstOpening : `,{"index":${this.#index},"message":{"role":"assistant","content":`,
    );
    if (this.#written?.bytes !== undefined) json.addText(this.#written.bytes);
    else json.add(this.#text === '' && calls !== undefined ? 'null' : `"${this.#text}"`);
    if (this.#reasoning === undefined && calls === undefined && !withLogprobs) json.add(onlyText);
    else {
      const reasoning = this.#reasoning === undefined ? 'null' : `"${this.#reasoning}"`;
      const toolCalls = calls === undefined ? '' : `,"tool_calls":[${calls.map(callJson).join(',')}]`;
      const logprobs = withLogprobs ? `{"content":${JSON.stringify(this.#logprobs ?? [])}}` : 'null';
      json.add(
        `,"reasoning":${reasoning},"refusal":null${toolCalls}},"logprobs":${logprobs},"finish_reason":"`,
      );
    }
    const finish = this.#finish ?? defaultFinish(this.#index);
    json.add(`${finish.reason}","native_finish_reason":${nativeJson(finish)}}`);
  }
}

// Constant text is joined beforehand: concatenation costs by the number of strings.
const firstOpening = '{"index":0,"message":{"role":"assistant","content":';
const onlyText = ',"reasoning":null,"refusal":null},"logprobs":null,"finish_reason":"';
const mostModels = 1000;
const modelJson = remembered<string, string>(mostModels, (model) =>
  [',"model":', quoted(model), ',"system_fingerprint":null,"provider":'].join(''),
);

const callJson = ({ id, name, text }: Call): string =>
  `{"id":${quoted(id)},"type":"function","function":{"name":${quoted(name)},"arguments":"${text}"}}`;

const completionReply = (
  completion: Completion,
  choices: readonly Choice[],
  usage: TokenUsage,
): WholeReply => {
  const { id, created, model, provider, logprobs, extra = '' } = completion;
  const json = new JsonBody();
  json.add(
    `{"id":"${id}","object":"chat.completion","created":${created}${modelJson(model)}${provider},"choices":[`,
  );
  for (const choice of choices) choice.write(json, logprobs);
  json.add(`],"usage":${usageJson(usage)}${extra}}`);
  return jsonTextReply(json.body());
};

/** A JSON text as it grows; strings that came as bytes are spliced in as they are. */
class JsonBody {
  /** The last one is a placeholder for the text that follows. */
  #chunks: (string | Uint8Array)[] | undefined;
  #text = '';

  add(json: string): void {
    this.#text += json;
  }

  /** Adds a JSON string: escaped, in UTF-8, without its quotes. */
  addText(bytes: Uint8Array): void {
    const before = `${this.#text}"`;
    if (this.#chunks === undefined) this.#chunks = [before, bytes, ''];
    else {
      this.#chunks[this.#chunks.length - 1] = before;
      this.#chunks.push(bytes, '');
    }
    this.#text = '"';
  }

  body(): ReplyBody {
    if (this.#chunks === undefined) return this.#text;
    this.#chunks[this.#chunks.length - 1] = this.#text;
    return this.#chunks;
  }
}
