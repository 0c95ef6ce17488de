/** Writes `chat.completion.chunk` events. */
import { type ApiError, errorBody } from '../../src/errors.ts';
import { quoted } from '../../src/helpers/quoted.ts';
import type { TextPart } from '../../src/ports/engines/chat.ts';
import { type Finish, Finishes } from '../conversation/finishes.ts';
import { attemptsJson, type EventWriter, type UsagePart } from '../conversation/frame-stream.ts';
import type { SettledPart } from '../conversation/settle.ts';
import { type Completion, nativeJson, usageJson } from './completion-json.ts';

/** After a delta, while its choice is not finished. */
const unfinished = '},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]';
const continues = `${unfinished}}\n\n`;
const done = 'data: [DONE]\n\n';

/** Constant text is built once per request and the escaped text spliced in: nothing is serialized per token. */
export class ChatChunks implements EventWriter {
  readonly #completion: Completion;
  /** `data: {…,"choices":[`, and then per choice up to `"delta":{`. Joined, so that each is one flat string. */
  readonly #start: string;
  readonly #deltas: string[] = [];
  readonly #finishes: Finishes;

  constructor(completion: Completion) {
    const { id, created, model, provider } = completion;
    this.#completion = completion;
    this.#finishes = new Finishes(completion.choices);
    this.#start = [
      'data: {"id":',
      quoted(id),
      ',"object":"chat.completion.chunk","created":',
      created,
      ',"model":',
      quoted(model),
      ',"provider":',
      provider,
      ',"choices":[',
    ].join('');
    for (let choice = 0; choice < completion.choices; choice++) {
      this.#deltas.push([this.#start, '{"index":', choice, ',"delta":{'].join(''));
    }
  }

  /** The first chunk of each choice. */
  start(): string {
    const { extra = '' } = this.#completion;
    return this.#deltas
      .map(
        (delta, choice) =>
          `${delta}"role":"assistant","content":""${unfinished}${choice === 0 ? extra : ''}}\n\n`,
      )
      .join('');
  }

  of(part: SettledPart): string {
    switch (part.type) {
      case 'text':
        return this.#text(part);
      case 'reasoning':
        // Signatures, which come without text, have no field in this format.
        if (part.text === '') return '';
        return `${this.#release()}${this.#delta(part.choice)}"reasoning":"${part.text}"${continues}`;
      case 'tool-call':
        return (
          `${this.#release()}${this.#delta(part.choice)}"tool_calls":[{"index":${part.call},"id":${quoted(part.id)},` +
          `"type":"function","function":{"name":${quoted(part.name)},"arguments":""}}]${continues}`
        );
      case 'tool-arguments':
        return (
          `${this.#release()}${this.#delta(part.choice)}"tool_calls":[{"index":${part.call},` +
          `"function":{"arguments":"${part.text}"}}]${continues}`
        );
      case 'finish': {
        const earlier = this.#release();
        this.#finishes.hold(part);
        return earlier;
      }
      case 'usage':
        return this.#end(part);
    }
  }

  #text({ choice, text, logprobs }: TextPart): string {
    const start = `${this.#release()}${this.#delta(choice)}"content":"${text}"`;
    if (!this.#completion.logprobs || logprobs === undefined) return start + continues;
    return `${start}},"finish_reason":null,"native_finish_reason":null,"logprobs":{"content":${JSON.stringify(logprobs)}}}]}\n\n`;
  }

  #delta(choice: number): string {
    return this.#deltas[choice] ?? `${this.#start}{"index":${choice},"delta":{`;
  }

  #release(): string {
    const held = this.#finishes.release();
    return held === undefined ? '' : this.#finish(held, '');
  }

  #finish(finish: Finish, usage: string): string {
    const { choice, reason } = finish;
    return (
      `${this.#delta(choice)}},"finish_reason":"${reason}","native_finish_reason":${nativeJson(finish)},` +
      `"logprobs":null}]${usage}}\n\n`
    );
  }

  #end(part: UsagePart): string {
    const field = `,"usage":${usageJson(part.usage)}${attemptsJson(part)}`;
    const open = this.#finishes.open();
    const last = open.length - 1;
    const alone = this.#completion.includeUsage || last < 0;
    const finishes = open.map((finish, at) => this.#finish(finish, at === last && !alone ? field : ''));
    return `${finishes.join('')}${alone ? `${this.#start}]${field}}\n\n` : ''}${done}`;
  }

  fail(error: ApiError): string {
    const choices = this.#finishes
      .open()
      .map(
        ({ choice }) =>
          `{"index":${choice},"delta":{"content":""},"finish_reason":"error","native_finish_reason":"error"}`,
      );
    return `${this.#start}${choices.join(',')}],"error":${JSON.stringify(errorBody(error))}}\n\n${done}`;
  }
}
