/** Turns parsed chunks or whole responses into parts; holds all state of a call. */
import { randomBytes } from 'node:crypto';
import { type ApiError, asApiError } from '../../../errors.ts';
import {
  type JsonText,
  type Logprob,
  type Part,
  type Parts,
  type TokenUsage,
  toJsonText,
} from '../../../ports/engines/chat.ts';
import { brokenOff } from '../../engine-error.ts';
import { isObject, type Json } from '../shared/json.ts';
import { unreadable } from '../shared/json-picker.ts';
import { reportedError } from '../shared/reported-error.ts';
import { ThinkTags } from '../shared/think-tags.ts';
import { ToolCalls } from './tool-calls.ts';
import { type Finish, finishReason, logprobs, stopSequence, tokenUsage } from './words.ts';

export interface AnswerOptions {
  /** Requested choices; further ones are ignored. */
  readonly choices: number;
  /** The model reasons: look for think tags in its text. */
  readonly thinks: boolean;
  /** The rest of an answer that broke off: in its text, in reasoning that the server separates, or between think tags. */
  readonly within?: 'text' | 'reasoning' | 'tags';
  readonly newCallId?: () => string;
}

interface Choice {
  readonly index: number;
  readonly think: ThinkTags | undefined;
  tools: ToolCalls | undefined;
  /** Of the tokens behind the next text part. */
  logprobs: readonly Logprob[] | undefined;
  finished: boolean;
}

const newCallId = (): string => `call_${randomBytes(12).toString('hex')}`;
const nothing: Parts = [];

export class ResponseDecoder {
  /** The engine's own failure; nothing after it counts. */
  failure: ApiError | undefined;
  readonly #options: AnswerOptions;
  readonly #asJsonText: (text: string) => JsonText;
  readonly #choices: Choice[] = [];
  /**
   * Created with the first part and given away: an empty array that lives on moves to the old generation, where it would
   * keep a whole read of text alive until a major collection.
   */
  #parts: Part[] | undefined;
  #usage: TokenUsage | undefined;
  /** The current chunk is a whole response. */
  #whole = false;

  /** `asJsonText` is for callers that have the escaped text already. */
  constructor(options: AnswerOptions, asJsonText = toJsonText) {
    this.#options = options;
    this.#asJsonText = asJsonText;
  }

  /** It reasons between think tags, or did until now. */
  get inTags(): boolean {
    return this.#choices[0]?.think?.isThinking === true;
  }

  /** What came since the last time. */
  take(): Parts {
    const parts = this.#parts ?? nothing;
    this.#parts = undefined;
    return parts;
  }

  /** A chunk or a whole answer, parsed. */
  push(value: unknown, isChunk = false): void {
    try {
      this.#push(value, isChunk);
    } catch (thrown) {
      this.failure = asApiError(thrown);
    }
  }

  /** A piece of a choice's text; an empty one only announces the choice. */
  text(index: number, text: JsonText): void {
    const choice = this.#choice(index);
    if (choice === undefined || choice.finished || text === '') return;
    if (choice.think === undefined) this.#emitText(choice, text);
    else choice.think.push(text);
  }

  reasoning(index: number, text: JsonText): void {
    const choice = this.#choice(index);
    if (choice === undefined || choice.finished || text === '') return;
    choice.think?.stop();
    // Parsers of servers take what they are sent without tags for reasoning; after the start of its text no answer has any.
    if (this.#options.within === 'text') this.#emitText(choice, text);
    else this.#emitReasoning(choice, text);
  }

  /** The response is over. `complete`: the engine marked its end; otherwise a choice that never finished is a failure. */
  end(complete: boolean): void {
    if (this.failure !== undefined) return;
    const open = this.#choices.filter((choice) => choice !== undefined && !choice.finished);
    if (this.#choices.length === 0 || (open.length > 0 && !complete)) {
      this.failure = brokenOff('The engine ended its answer early');
      return;
    }
    for (const choice of open) this.#finish(choice, null, undefined);
    if (this.#usage !== undefined) this.#emit({ type: 'usage', usage: this.#usage });
  }

  #push(value: unknown, isChunk: boolean): void {
    if (!isObject(value)) throw wrongShape('A chunk is no object');
    this.failure = reportedError(value);
    if (this.failure !== undefined) return;
    // Counts are running totals where every chunk has them: the last one holds.
    const usage = tokenUsage(value.usage);
    this.#usage = usage ?? this.#usage;
    if (value.choices == null) return;
    if (!Array.isArray(value.choices)) throw wrongShape('The choices of a chunk are no list');
    for (const item of value.choices) {
      if (!isObject(item)) throw wrongShape('A choice is no object');
      this.#pushChoice(item);
    }
    // With several choices, servers count the one that the chunk is about.
    const isCounting = isChunk && this.#options.choices === 1 && this.#choices[0]?.finished === false;
    if (isCounting && usage !== undefined) this.#emit({ type: 'usage', usage, soFar: true });
  }

  #pushChoice(item: Json): void {
    const index = item.index ?? 0;
    if (!Number.isSafeInteger(index) || (index as number) < 0) throw wrongShape('A choice has no number');
    const choice = this.#choice(index as number);
    if (choice === undefined || choice.finished) return;
    this.#whole = item.delta === undefined;
    const delta = item.delta ?? item.message;
    choice.logprobs = joined(choice.logprobs, logprobs(item.logprobs));
    if (isObject(delta)) this.#pushDelta(choice, delta);
    else if (delta != null) throw wrongShape('The delta of a choice is no object');
    else {
      // Of a text completion, streamed or whole.
      const words = textOf(item, 'text');
      if (words !== undefined) this.text(choice.index, this.#asJsonText(words));
    }
    const reason = textOf(item, 'finish_reason');
    if (reason !== undefined) this.#finish(choice, reason, stopSequence(item));
  }

  #pushDelta(choice: Choice, delta: Json): void {
    // Where a server sends the same thought under both names, it counts once.
    const thought = textOf(delta, 'reasoning') ?? textOf(delta, 'reasoning_content');
    if (thought !== undefined) this.reasoning(choice.index, this.#asJsonText(thought));
    for (const words of [textOf(delta, 'content'), textOf(delta, 'refusal')]) {
      if (words !== undefined) this.text(choice.index, this.#asJsonText(words));
    }
    if (delta.tool_calls != null) this.#callTools(choice, delta.tool_calls);
    if (delta.function_call != null) {
      this.#callTools(choice, { index: 0, function: delta.function_call });
    }
  }

  #callTools(choice: Choice, deltas: unknown): void {
    if (Array.isArray(deltas) && deltas.length === 0) return;
    choice.think?.flush();
    choice.tools ??= new ToolCalls(
      choice.index,
      (part) => this.#emit(part),
      this.#options.newCallId ?? newCallId,
    );
    choice.tools.push(deltas);
  }

  #finish(choice: Choice, native: string | null, stop: Finish['stopSequence']): void {
    choice.think?.flush();
    choice.tools?.end(native !== null && finishReason(native, false) === 'length');
    // Logprobs of tokens without text of their own, such as the end token's, go with an empty piece.
    if (choice.logprobs !== undefined) this.#emitText(choice, toJsonText(''));
    choice.finished = true;
    const reason = finishReason(native ?? 'stop', choice.tools?.any === true);
    // vLLM ends running responses with `abort` when it is stopped: incomplete, as by a broken connection.
    if (reason === 'error') throw brokenOff('The engine broke off its answer');
    this.#emit({
      type: 'finish',
      choice: choice.index,
      reason,
      native,
      ...(stop === undefined ? {} : { stopSequence: stop }),
    });
  }

  #emitText(choice: Choice, text: JsonText): void {
    const tokens = choice.logprobs;
    if (tokens === undefined) {
      this.#emit({ type: 'text', choice: choice.index, text });
    } else {
      choice.logprobs = undefined;
      this.#emit({ type: 'text', choice: choice.index, text, logprobs: tokens });
    }
  }

  #emitReasoning(choice: Choice, text: JsonText): void {
    // In a stream they are those of the thought; in a whole answer there is one list for everything.
    if (!this.#whole) choice.logprobs = undefined;
    this.#emit({ type: 'reasoning', choice: choice.index, text });
  }

  #emit(part: Part): void {
    if (this.#parts === undefined) this.#parts = [part];
    else this.#parts.push(part);
  }

  /** Undefined for one that was not requested. */
  #choice(index: number): Choice | undefined {
    return this.#choices[index] ?? this.#addChoice(index);
  }

  #addChoice(index: number): Choice | undefined {
    if (index >= this.#options.choices) return undefined;
    const { thinks, within = 'tags' } = this.#options;
    const think =
      thinks && within === 'tags'
        ? new ThinkTags(
            {
              text: (text) => this.#emitText(choice, text),
              reasoning: (text) => this.#emitReasoning(choice, text),
            },
            this.#options.within === 'tags',
          )
        : undefined;
    const choice: Choice = { index, think, tools: undefined, logprobs: undefined, finished: false };
    this.#choices[index] = choice;
    return choice;
  }
}

/** Undefined for none; what is there and is no text would be missing from the response. */
const textOf = (holder: Json, field: string): string | undefined => {
  const value = holder[field];
  if (value == null || value === '') return undefined;
  if (typeof value !== 'string') throw wrongShape(`${field} is no text`);
  return value;
};

/** A hole in the response, not something to leave out. */
const wrongShape = (what: string): ApiError => unreadable(new Error(what));

const joined = (
  earlier: readonly Logprob[] | undefined,
  later: readonly Logprob[] | undefined,
): readonly Logprob[] | undefined =>
  earlier === undefined ? later : later === undefined ? earlier : [...earlier, ...later];
