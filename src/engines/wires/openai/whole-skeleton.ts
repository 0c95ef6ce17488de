/** Recognizes whole responses that differ from earlier ones only in text, id and counts. */

import { isObject } from '../shared/json.ts';
import { endOfText } from '../shared/json-text.ts';
import type { Finish } from './words.ts';

/** The text; an ignored string; a count with its position in the parsed value. */
type Hole = 'text' | 'word' | Count;

interface Count {
  holder: Record<string, unknown> | undefined;
  key: string;
}

/** Longer responses are hardly ever repeated. */
const longest = 4096;
const mostHoles = 24;
/** Placeholders for counts while their positions are searched; larger than any real count. */
const firstMark = 900_000_000_000_000;
const mostDigits = 15;
const zero = 48;
/** A number, or a word such as `null`. */
const bare = /[-+.\w]+/y;
const count = /^(?:0|[1-9]\d{0,14})$/;

/** A string without its quotes, or a number that is a count: where it is, and the key that it belongs to. */
interface Token {
  readonly from: number;
  readonly to: number;
  readonly key: string;
  readonly isCount: boolean;
}

/** Comparing takes two thirds of the time that parsing all but the text does. */
export class WholeSkeleton {
  /** One more than there are holes, of which there is one behind each but the last. */
  readonly #literals: string[] = [];
  readonly #holes: Hole[] = [];
  /** The answer as parsed, but for its text and its id, with the counts of the last one that matched. */
  readonly value: unknown;
  /** Where its text is; below 0 when it has none. */
  from = -1;
  to = -1;
  /** How such an answer ends, once it was seen to be one text and nothing more. */
  ending: Finish | undefined;

  /** Of an answer in which `standIn` takes the place of the text. */
  private constructor(json: string, standIn: string) {
    const marks: string[] = [];
    let at = 0;
    for (const token of tokensOf(json)) {
      const text = json.slice(token.from, token.to);
      const hole = holeOf(token, text, standIn);
      if (hole === undefined) continue;
      this.#literals.push(json.slice(at, token.from));
      this.#holes.push(hole);
      marks.push(token.isCount ? String(firstMark + marks.length) : text);
      at = token.to;
    }
    this.#literals.push(json.slice(at));
    this.value = JSON.parse(this.#literals.map((literal, index) => literal + (marks[index] ?? '')).join(''));
    this.#place(this.value);
  }

  /** Undefined when the answer is not worth it. Proved on that answer: it must match, and read as `parsed`. */
  static learn(json: string, parsed: unknown, standIn: string): WholeSkeleton | undefined {
    if (json.length > longest) return undefined;
    const skeleton = new WholeSkeleton(json, standIn);
    const matches = skeleton.#holes.length <= mostHoles && skeleton.match(json);
    return matches && JSON.stringify(skeleton.value) === JSON.stringify(parsed) ? skeleton : undefined;
  }

  /** False when the answer has another shape, or no text; then `value` is of no use. */
  match(json: string): boolean {
    this.from = -1;
    let at = 0;
    for (let index = 0; index < this.#literals.length; index++) {
      const literal = this.#literals[index] ?? '';
      // Comparing slices is three times as fast as `startsWith`.
      if (json.slice(at, at + literal.length) !== literal) return false;
      at += literal.length;
      const hole = this.#holes[index];
      if (hole === undefined) continue;
      const from = at;
      at = typeof hole === 'string' ? endOfText(json, from) : endOfCount(json, from, hole);
      if (at < 0) return false;
      if (hole === 'text') {
        this.from = from;
        this.to = at;
      }
    }
    return at === json.length && this.from >= 0;
  }

  /** Finds the counts by their placeholders. One that is not found, as of a repeated key, never matches. */
  #place(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const holder = value as Record<string, unknown>;
    for (const [key, member] of Object.entries(holder)) {
      const hole = typeof member === 'number' ? this.#holes[member - firstMark] : undefined;
      if (isObject(hole)) Object.assign(hole, { holder, key });
      else this.#place(member);
    }
  }
}

/** The values of a JSON text that could be something else in another answer. */
function* tokensOf(json: string): Generator<Token> {
  let key = '';
  for (let at = 0; at < json.length; at++) {
    const from = at;
    if (json[at] === '"') {
      at = endOfText(json, at + 1);
      if (at < 0) return;
      if (
        json
          .slice(at + 1, at + 16)
          .trimStart()
          .startsWith(':')
      )
        key = json.slice(from + 1, at);
      else yield { from: from + 1, to: at, key, isCount: false };
    } else {
      bare.lastIndex = at;
      const digits = bare.exec(json)?.[0] ?? '';
      if (digits === '') continue;
      at += digits.length - 1;
      if (count.test(digits)) yield { from, to: from + digits.length, key, isCount: true };
    }
  }
}

/** Undefined for what is constant, such as a choice's index, whose key may be escaped too. */
const holeOf = ({ key, isCount }: Token, text: string, standIn: string): Hole | undefined => {
  if (isCount) return key === 'index' || key.includes('\\') ? undefined : { holder: undefined, key };
  if (text === standIn) return 'text';
  return key === 'id' ? 'word' : undefined;
};

/** Reads a number into its position; below 0 when it is no JSON number. */
const endOfCount = (json: string, from: number, { holder, key }: Count): number => {
  let count = 0;
  let at = from;
  for (; at - from <= mostDigits; at++) {
    const digit = json.charCodeAt(at) - zero;
    if (!(digit >= 0 && digit <= 9)) break;
    count = count * 10 + digit;
  }
  const digits = at - from;
  const isCount = digits === 1 || (digits > 1 && digits <= mostDigits && json.charCodeAt(from) !== zero);
  if (!isCount || holder === undefined) return -1;
  holder[key] = count;
  return at;
};
