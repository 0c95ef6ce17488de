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
  readonly #calls: Call[] = [];
  readonly #logprobs: Logprob[] = [];
  #finish: Finish;

  constructor(index: number) {
    this.#index = index;
    this.#finish = silentFinish(index);
  }

  add(part: Content): void {
    switch (part.type) {
      case 'text':
        for (const logprob of part.logprobs ?? []) this.#logprobs.push(logprob);
        this.#text += part.text;
        break;
      case 'reasoning':
        this.#reasoning = (this.#reasoning ?? '') + part.text;
        break;
      case 'tool-call':
        this.#calls.push({ id: part.id, name: part.name, text: '' });
        break;
      case 'tool-arguments': {
        // A call is complete before the next one starts.
        const call = this.#calls[this.#calls.length - 1];
        if (call !== undefined) call.text += part.text;
        break;
      }
      case 'finish':
        this.#finish = part;
    }
  }

  json(withLogprobs: boolean): string {
    const calls = this.#calls;
    const content = this.#text === '' && calls.length > 0 ? 'null' : `"${this.#text}"`;
    const reasoning = this.#reasoning === undefined ? 'null' : `"${this.#reasoning}"`;
    const toolCalls = calls.length > 0 ? `,"tool_calls":[${calls.map(callJson).join(',')}]` : '';
    const logprobs = withLogprobs ? `{"content":${JSON.stringify(this.#logprobs)}}` : 'null';
    return (
      `{"index":${this.#index},"message":{"role":"assistant","content":${content},"reasoning":${reasoning},"refusal":null` +
      `${toolCalls}},"logprobs":${logprobs},"finish_reason":"${this.#finish.reason}",` +
      `"native_finish_reason":${nativeJson(this.#finish)}}`
    );
  }
}

const callJson = ({ id, name, text }: Call): string =>
  `{"id":${quoted(id)},"type":"function","function":{"name":${quoted(name)},"arguments":"${text}"}}`;

const answer = (completion: Completion, choices: readonly Choice[], usage: TokenUsage): Answer => {
  const { id, created, model, logprobs, extra = '' } = completion;
  return jsonTextAnswer(
    `{"id":"${id}","object":"chat.completion","created":${created},"model":${quoted(model)},` +
      `"system_fingerprint":null,"choices":[${choices.map((choice) => choice.json(logprobs)).join(',')}],` +
      `"usage":${usageJson(usage)}${extra}}`,
  );
};
