/** Writes the chunks of a text completion. */
import { type ApiError, errorBody } from '../../src/errors.ts';
import type { TextPart } from '../../src/ports/engines/chat.ts';
import { usageJson } from '../chat/completion-json.ts';
import { type Finish, Finishes } from '../conversation/finishes.ts';
import { attemptsJson, type EventWriter, type UsagePart } from '../conversation/frame-stream.ts';
import type { SettledPart } from '../conversation/settle.ts';
import { type CompletionForm, finishReason } from './completion-form.ts';
import { lengthOf, logprobsJson } from './logprobs-json.ts';

const continues = '","logprobs":null,"finish_reason":null}]}\n\n';
const done = 'data: [DONE]\n\n';

/** Constant text is built once per request and the escaped text spliced in. */
export class CompletionChunks implements EventWriter {
  readonly #form: CompletionForm;
  /** `data: {…,"choices":[`, and then per choice up to `"text":"`. Joined, so that each is one flat string. */
  readonly #start: string;
  readonly #texts: string[] = [];
  readonly #finishes: Finishes;
  /** Characters of each choice, where log-probabilities are counted by them. */
  readonly #offsets: number[] = [];

  constructor(form: CompletionForm) {
    this.#form = form;
    this.#finishes = new Finishes(form.choices);
    this.#start = ['data: {', form.head, ',"choices":['].join('');
    for (let choice = 0; choice < form.choices; choice++)
      this.#texts.push([this.#start, '{"index":', choice, ',"text":"'].join(''));
  }

  /** The prompts, where they are echoed. */
  start(): string {
    return this.#texts
      .map((text, choice) => {
        const echoed = this.#form.echoed(choice);
        return echoed === '' ? '' : text + echoed + continues;
      })
      .join('');
  }

  of(part: SettledPart): string {
    switch (part.type) {
      case 'text':
        return this.#text(part);
      case 'finish': {
        const earlier = this.#release();
        this.#finishes.hold(part);
        return earlier;
      }
      case 'usage':
        return this.#end(part);
      // A completion is text, whatever else an engine makes of it.
      default:
        return '';
    }
  }

  #text({ choice, text, logprobs }: TextPart): string {
    const start = `${this.#release()}${this.#texts[choice] ?? ''}${text}`;
    if (!this.#form.logprobs || logprobs === undefined) return start + continues;
    const offset = this.#offsets[choice] ?? 0;
    this.#offsets[choice] = offset + lengthOf(logprobs);
    return `${start}","logprobs":${logprobsJson(logprobs, offset)},"finish_reason":null}]}\n\n`;
  }

  #release(): string {
    const held = this.#finishes.release();
    return held === undefined ? '' : this.#finish(held, '');
  }

  #finish(finish: Finish, usage: string): string {
    return `${this.#texts[finish.choice] ?? ''}","logprobs":null,"finish_reason":"${finishReason(finish)}"}]${usage}}\n\n`;
  }

  #end(part: UsagePart): string {
    const field = `,"usage":${usageJson(part.usage)}${attemptsJson(part)}`;
    const open = this.#finishes.open();
    const last = open.length - 1;
    const alone = this.#form.includeUsage || last < 0;
    const finishes = open.map((finish, at) => this.#finish(finish, at === last && !alone ? field : ''));
    return `${finishes.join('')}${alone ? `${this.#start}]${field}}\n\n` : ''}${done}`;
  }

  fail(error: ApiError): string {
    const choices = this.#finishes
      .open()
      .map(({ choice }) => `{"index":${choice},"text":"","logprobs":null,"finish_reason":"error"}`);
    return `${this.#start}${choices.join(',')}],"error":${JSON.stringify(errorBody(error))}}\n\n${done}`;
  }
}
