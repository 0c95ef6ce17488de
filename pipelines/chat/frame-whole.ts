/** Frames a conversation as one `chat.completion` object. */
import type { Observer } from 'rxjs';
import type { Logprob, TextPart, TokenUsage } from '../../src/ports/chat.ts';
import { jsonTextReply, type Reply, type WholeReply } from '../../src/ports/exchange.ts';
import { quoted } from '../../src/quoted.ts';
import { remembered } from '../../src/remembered.ts';
import type { SettledPart, SettledParts } from '../conversation/settle.ts';
import { Forwarder } from '../core/stage.ts';
import { type Completion, type Finish, nativeJson, silentFinish, usageJson } from './completion-json.ts';
import { JsonPieces } from './json-pieces.ts';

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
        this.receiver.next(answer(this.#completion, this.#choices, part.usage));
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

/** One of the n answers as it grows; all text stays as JSON has it. */
class Choice {
  readonly #index: number;
  #text = '';
  /** All its text so far, where that came as bytes. */
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
        this.#reasoning = (this.#reasoning ?? '') + part.text;
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

  write(json: JsonPieces, withLogprobs: boolean): void {
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
    const finish = this.#finish ?? silentFinish(this.#index);
    json.add(`${finish.reason}","native_finish_reason":${nativeJson(finish)}}`);
  }
}

// What most answers have in common is in one piece: a text costs by the pieces it is made of.
const firstOpening = '{"index":0,"message":{"role":"assistant","content":';
const onlyText = ',"reasoning":null,"refusal":null},"logprobs":null,"finish_reason":"';
const mostModels = 1000;
const modelJson = remembered<string, string>(mostModels, (model) =>
  [',"model":', quoted(model), ',"system_fingerprint":null,"choices":['].join(''),
);

const callJson = ({ id, name, text }: Call): string =>
  `{"id":${quoted(id)},"type":"function","function":{"name":${quoted(name)},"arguments":"${text}"}}`;

const answer = (completion: Completion, choices: readonly Choice[], usage: TokenUsage): WholeReply => {
  const { id, created, model, logprobs, extra = '' } = completion;
  const json = new JsonPieces();
  json.add(`{"id":"${id}","object":"chat.completion","created":${created}${modelJson(model)}`);
  for (const choice of choices) choice.write(json, logprobs);
  json.add(`],"usage":${usageJson(usage)}${extra}}`);
  return jsonTextReply(json.body());
};
