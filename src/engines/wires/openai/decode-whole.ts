/** Decodes a whole chat or completion response into parts, copying its text without parsing it. */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import {
  type JsonText,
  type Logprob,
  type Parts,
  type TextPart,
  toJsonText,
} from '../../../ports/engines/chat.ts';
import { isObject, parseJson } from '../shared/json.ts';
import { endOfText, isSurelyText } from '../shared/json-text.ts';
import { type AnswerOptions, ResponseDecoder } from './response-decoder.ts';
import { WholeSkeleton } from './whole-skeleton.ts';
import { type Finish, tokenUsage } from './words.ts';

/** A response with `standIn` in place of its text, and the position of that text. */
interface Around {
  readonly value: unknown;
  readonly from: number;
  readonly to: number;
  /** How it ends, once it was seen to be one text and nothing more. */
  ending: Finish | undefined;
}

/** What no answer has in it. */
const standIn = randomBytes(16).toString('hex');
const notAscii = /[^\0-\x7f]/;

/** One per server and kind of ending; more are not worth comparing with. */
const mostSkeletons = 8;
/** Answers in a row of unknown shape: from then on only one of so many is learnt, until one is known again. */
const useless = 32;

/**
 * The text is copied as it is and a placeholder parsed in its place: unescaping and escaping it takes as long as all the
 * rest. The rest is compared with earlier responses, and parsed where it differs in more than numbers.
 */
export class WholeDecoder {
  /** What is before the text. */
  readonly #opening: string;
  /** Most lately used first. */
  readonly #skeletons: WholeSkeleton[] = [];
  #unknown = 0;

  /** `key` is the field of the text. */
  constructor(key: 'content' | 'text' = 'content') {
    this.#opening = `"${key}":"`;
  }

  decode(body: Buffer, options: AnswerOptions): Parts {
    const json = body.toString('latin1');
    const around = this.#known(json) ?? this.#withoutText(json);
    const parts = around === undefined ? undefined : partsAround(around, json, options);
    return parts ?? partsOf(parseJson(body.toString('utf8')), options);
  }

  #known(json: string): Around | undefined {
    for (let index = 0; index < this.#skeletons.length; index++) {
      const skeleton = this.#skeletons[index];
      if (skeleton?.match(json) !== true) continue;
      if (index > 0) {
        this.#skeletons.splice(index, 1);
        this.#skeletons.unshift(skeleton);
      }
      this.#unknown = 0;
      return isSurelyText(json.slice(skeleton.from, skeleton.to)) ? skeleton : undefined;
    }
    return undefined;
  }

  /** Undefined when the text is not where it is looked for, or should better be looked at. */
  #withoutText(json: string): Around | undefined {
    const opening = this.#opening;
    const from = json.indexOf(opening) + opening.length;
    const to = from < opening.length ? -1 : endOfText(json, from);
    if (to < 0 || !isSurelyText(json.slice(from, to))) return undefined;
    const rest = `${json.slice(0, from)}${standIn}${json.slice(to)}`;
    if (notAscii.test(rest)) return undefined;
    const value = parseJson(rest);
    this.#learn(rest, value);
    return { value, from, to, ending: undefined };
  }

  #learn(rest: string, value: unknown): void {
    if (++this.#unknown > useless && this.#unknown % useless !== 0) return;
    const skeleton = WholeSkeleton.learn(rest, value, standIn);
    if (skeleton === undefined) return;
    this.#skeletons.unshift(skeleton);
    if (this.#skeletons.length > mostSkeletons) this.#skeletons.pop();
  }
}

/** Undefined when the text that was taken is not that of an answer. */
const partsAround = (around: Around, json: string, options: AnswerOptions): Parts | undefined => {
  const { value, from, to, ending } = around;
  // The body is borrowed, so its text is copied; slicing the string avoids a view of the bytes.
  const bytes = Buffer.from(json.slice(from, to), 'latin1');
  // Text that may contain reasoning, or is empty, has to be decoded.
  if (options.thinks || bytes.length === 0 || !isUtf8(bytes))
    return partsWithText(value, bytes.toString('utf8'), options);
  if (ending !== undefined) return textAndEnding(new WrittenText(0, undefined, bytes), ending, value);
  const parts = partsOf(value, options, leaveStandIn);
  const index = parts.findIndex(isStandIn);
  const part = parts[index];
  if (part?.type !== 'text') return undefined;
  around.ending = endingOf(parts);
  return parts.with(index, new WrittenText(part.choice, part.logprobs, bytes));
};

/** Of an answer that is one text and nothing more: all of its skeleton are, and differ in nothing but text and usage. */
const endingOf = ([text, finish, usage, ...more]: Parts): Finish | undefined => {
  const isOne = text?.type === 'text' && text.choice === 0 && text.logprobs === undefined;
  const isAll = (usage === undefined || usage.type === 'usage') && more.length === 0;
  return isOne && isAll && finish?.type === 'finish' && finish.choice === 0 ? finish : undefined;
};

const textAndEnding = (text: TextPart, ending: Finish, value: unknown): Parts => {
  const usage = isObject(value) ? tokenUsage(value.usage) : undefined;
  return usage === undefined ? [text, ending] : [text, ending, { type: 'usage', usage }];
};

const partsWithText = (value: unknown, text: string, options: AnswerOptions): Parts | undefined => {
  let seen = false;
  const parts = partsOf(value, options, (words) => {
    if (words !== standIn) return toJsonText(words);
    seen = true;
    return text as JsonText;
  });
  return seen ? parts : undefined;
};

const leaveStandIn = (words: string): JsonText =>
  words === standIn ? (words as JsonText) : toJsonText(words);
const isStandIn = (part: Parts[number]): boolean => part.type === 'text' && part.text === standIn;

/** Decoded on demand: most responses are written as they came. */
class WrittenText implements TextPart {
  readonly type = 'text';
  readonly choice: number;
  readonly bytes: Buffer;
  readonly logprobs: readonly Logprob[] | undefined;
  #text: JsonText | undefined;

  constructor(choice: number, logprobs: readonly Logprob[] | undefined, bytes: Buffer) {
    this.choice = choice;
    this.bytes = bytes;
    this.logprobs = logprobs;
  }

  get text(): JsonText {
    this.#text ??= this.bytes.toString('utf8') as JsonText;
    return this.#text;
  }
}

const partsOf = (value: unknown, options: AnswerOptions, asJsonText = toJsonText): Parts => {
  const answer = new ResponseDecoder(options, asJsonText);
  answer.push(value);
  answer.end(true);
  if (answer.failure !== undefined) throw answer.failure;
  return answer.take();
};
