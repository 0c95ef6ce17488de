/** Metered parts in; one `chat.completion` object out when they have all come. A failure part becomes the error answer. */
import type { Observer, OperatorFunction } from 'rxjs';
import type { Logprob, Part, Parts, TokenUsage } from '../../src/ports/chat.ts';
import { type Answer, jsonTextAnswer, type Reply } from '../../src/ports/exchange.ts';
import { quoted } from '../../src/quoted.ts';
import { type Completion, type Finish, nativeJson, silentFinish, usageJson } from './chat-completion.ts';
import { relay, type Stage } from './relay.ts';

export const frameChatWhole = (completion: Completion): OperatorFunction<Parts, Reply> =>
  relay((next) => new Whole(next, completion));

class Whole implements Stage<Parts> {
  readonly #receiver: Observer<Reply>;
  readonly #completion: Completion;
  readonly #choices: readonly Choice[];

  constructor(receiver: Observer<Reply>, completion: Completion) {
    this.#receiver = receiver;
    this.#completion = completion;
    this.#choices =
      completion.choices === 1
        ? [new Choice(0)]
        : Array.from({ length: completion.choices }, (_, index) => new Choice(index));
  }

  next(parts: Parts): void {
    for (const part of parts) {
      if (part.type === 'usage') {
        this.#receiver.next(answer(this.#completion, this.#choices, part.usage));
        this.#receiver.complete();
      } else if (part.type === 'failure') {
        this.#receiver.error(part.error);
      } else {
        this.#choices[part.choice]?.add(part);
      }
    }
  }

  error(error: unknown): void {
    this.#receiver.error(error);
  }

  complete(): void {
    this.#receiver.complete();
  }
}

type Content = Exclude<Part, { type: 'usage' | 'failure' }>;

interface Call {
  readonly id: string;
  readonly name: string;
  text: string;
}

/** One of the n answers as it grows; all text stays as JSON has it. */
class Choice {
  readonly #index: number;
  #text = '';
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
        this.#text += part.text;
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

  #addLogprobs(logprobs: readonly Logprob[]): void {
    this.#logprobs ??= [];
    for (const logprob of logprobs) this.#logprobs.push(logprob);
  }

  json(withLogprobs: boolean): string {
    const calls = this.#calls;
    const finish = this.#finish ?? silentFinish(this.#index);
    const content = this.#text === '' && calls !== undefined ? 'null' : `"${this.#text}"`;
    const opening = `{"index":${this.#index},"message":{"role":"assistant","content":${content},`;
    const ending = `"finish_reason":"${finish.reason}","native_finish_reason":${nativeJson(finish)}}`;
    // What most answers have in common in one piece: a text costs by the pieces it is made of.
    if (this.#reasoning === undefined && calls === undefined && !withLogprobs)
      return `${opening}"reasoning":null,"refusal":null},"logprobs":null,${ending}`;
    const reasoning = this.#reasoning === undefined ? 'null' : `"${this.#reasoning}"`;
    const toolCalls = calls === undefined ? '' : `,"tool_calls":[${calls.map(callJson).join(',')}]`;
    const logprobs = withLogprobs ? `{"content":${JSON.stringify(this.#logprobs ?? [])}}` : 'null';
    return `${opening}"reasoning":${reasoning},"refusal":null${toolCalls}},"logprobs":${logprobs},${ending}`;
  }
}

const choicesJson = (choices: readonly Choice[], logprobs: boolean): string => {
  let json = '';
  for (const choice of choices) json += json === '' ? choice.json(logprobs) : `,${choice.json(logprobs)}`;
  return json;
};

const callJson = ({ id, name, text }: Call): string =>
  `{"id":${quoted(id)},"type":"function","function":{"name":${quoted(name)},"arguments":"${text}"}}`;

const answer = (completion: Completion, choices: readonly Choice[], usage: TokenUsage): Answer => {
  const { id, created, model, logprobs, extra = '' } = completion;
  return jsonTextAnswer(
    `{"id":"${id}","object":"chat.completion","created":${created},"model":${quoted(model)},` +
      `"system_fingerprint":null,"choices":[${choicesJson(choices, logprobs)}],` +
      `"usage":${usageJson(usage)}${extra}}`,
  );
};
