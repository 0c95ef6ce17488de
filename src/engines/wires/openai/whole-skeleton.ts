/**
 * What does not change between two whole answers of one server: everything but the id, the counts and the text. An answer
 * of a known skeleton is read by comparing it, at a third of what parsing it costs.
 */
import { isDeepStrictEqual } from 'node:util';
import { endOfText } from './json-text.ts';
import { isObject } from './words.ts';

/** Where the text of an answer stands. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The text; a string that nobody reads; a number with the place where it belongs. */
type Hole = 'text' | 'word' | Count;

interface Count {
  holder: Record<string, unknown> | undefined;
  key: string;
}

/** Longer answers have in them what no other one will have, or more numbers than counts. */
const longest = 4096;
const mostHoles = 24;
/** Counts while their places are looked for: no server counts so far. */
const firstMark = 900_000_000_000_000;
const mostDigits = 15;
const zero = 48;

/** A key; another string; a number that is a count. */
const tokens = /("(?:[^"\\]|\\.)*"\s*:)|"(?:[^"\\]|\\.)*"|(?<![\w.+-])(?:0|[1-9]\d{0,14})(?![\w.])/g;

export class WholeSkeleton {
  /** One more than there are holes, of which there is one behind each but the last. */
  readonly #literals: string[] = [];
  readonly #holes: Hole[] = [];
  /** The answer as parsed, but for its text and its id, with the counts of the last one that matched. */
  readonly value: unknown;

  /** Of an answer in which `standIn` takes the place of the text; throws what is no JSON. */
  private constructor(json: string, standIn: string) {
    const marks: string[] = [];
    let at = 0;
    let key = '';
    for (const { 0: token, 1: name, index } of json.matchAll(tokens)) {
      if (name !== undefined) key = name;
      const hole = name === undefined ? holeOf(token, key, standIn) : undefined;
      if (hole === undefined) continue;
      const quotes = hole === 'text' || hole === 'word' ? 1 : 0;
      this.#literals.push(json.slice(at, index + quotes));
      this.#holes.push(hole);
      marks.push(quotes === 1 ? token.slice(1, -1) : String(firstMark + marks.length));
      at = index + token.length - quotes;
    }
    this.#literals.push(json.slice(at));
    this.value = JSON.parse(this.#literals.map((literal, index) => literal + (marks[index] ?? '')).join(''));
    this.#place(this.value);
  }

  /** Undefined when the answer is not worth it. Proved on that answer: it must match, and read as `parsed`. */
  static learn(json: string, parsed: unknown, standIn: string): WholeSkeleton | undefined {
    if (json.length > longest) return undefined;
    const skeleton = new WholeSkeleton(json, standIn);
    const span = skeleton.#holes.length > mostHoles ? undefined : skeleton.match(json);
    return span !== undefined && isDeepStrictEqual(skeleton.value, parsed) ? skeleton : undefined;
  }

  /** Undefined when the answer has another shape; then `value` is of no use. */
  match(json: string): Span | undefined {
    let span: Span | undefined;
    let at = 0;
    for (let index = 0; index < this.#literals.length; index++) {
      const literal = this.#literals[index] ?? '';
      // Comparing slices is three times as fast as `startsWith`.
      if (json.slice(at, at + literal.length) !== literal) return undefined;
      at += literal.length;
      const hole = this.#holes[index];
      if (hole === undefined) continue;
      const from = at;
      at = typeof hole === 'string' ? endOfText(json, from) : endOfCount(json, from, hole);
      if (at < 0) return undefined;
      if (hole === 'text') span = { from, to: at };
    }
    return at === json.length ? span : undefined;
  }

  /** Finds the counts by their marks. One that is not found, being said twice, stays without a place and never matches. */
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

/** Undefined for what is the same in all answers. */
const holeOf = (token: string, key: string, standIn: string): Hole | undefined => {
  if (!token.startsWith('"')) return { holder: undefined, key };
  if (token === `"${standIn}"`) return 'text';
  return key.startsWith('"id"') ? 'word' : undefined;
};

/** Reads the number that stands here into its place; below 0 when it is none that JSON has. */
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
