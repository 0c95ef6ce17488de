/** Parses regular expressions as far as strings can be generated for them. */
import { remembered } from '../../helpers/remembered.ts';
import { type Budget, SchemaProblem } from './budget.ts';

type Characters = readonly [string, ...string[]];

export type PatternNode =
  | { readonly type: 'set'; readonly characters: Characters }
  | { readonly type: 'sequence'; readonly nodes: readonly PatternNode[] }
  | { readonly type: 'choice'; readonly nodes: readonly [PatternNode, ...PatternNode[]] }
  | { readonly type: 'repeat'; readonly node: PatternNode; readonly low: number; readonly high: number };

const lengthLimit = 1000;
const depthLimit = 50;
export const repeatLimit = 1000;

const printable = [...span(0x20, 0x7e)];
const digits = span(0x30, 0x39);
const small = span(0x61, 0x7a);
const capital = span(0x41, 0x5a);
const word = [...small, ...capital, ...digits, '_'];

const controls = { n: ['\n'], t: ['\t'], r: ['\r'], f: ['\f'], v: ['\v'] };
const classes = { d: digits, w: word, s: [' '], D: without(digits), W: without(word), S: without([' ']) };
const escapes = new Map<string, readonly string[]>(Object.entries({ ...controls, ...classes }));

const scripts = { L: small, Letter: small, Ll: small, Lu: capital, N: digits, Nd: digits };
const properties = new Map(Object.entries(scripts));

/** Of one set; more of a script than a text needs to choose from. */
const setLimit = 1024;

export class UnsupportedPattern extends SchemaProblem {}

/** Throws for look-around, back references, word borders and anchors in odd places. */
export function readPattern(pattern: string, budget: Budget): PatternNode {
  if (pattern.length > lengthLimit) throw new UnsupportedPattern('has a "pattern" that is too long');
  budget.spend(1 + pattern.length / 4);
  return understood(pattern);
}

/** Each is read for every text that is made or checked. */
const understood = remembered(64, (pattern: string): PatternNode => new PatternReader(pattern).read());

/** Recursive descent: alternatives of sequences of repeated atoms. */
class PatternReader {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): PatternNode {
    const node = this.#alternatives();
    if (this.#at < this.#pattern.length) throw this.#unsupported();
    return node;
  }

  #alternatives(): PatternNode {
    this.#depth += 1;
    if (this.#depth > depthLimit) throw this.#unsupported();
    const first = this.#sequence();
    const others: PatternNode[] = [];
    while (this.#take('|')) others.push(this.#sequence());
    this.#depth -= 1;
    return others.length === 0 ? first : { type: 'choice', nodes: [first, ...others] };
  }

  #sequence(): PatternNode {
    const nodes: PatternNode[] = [];
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#peek())) {
      if ('^$'.includes(this.#peek())) this.#anchor(nodes.length === 0);
      else nodes.push(this.#repeat(this.#atom()));
    }
    return { type: 'sequence', nodes };
  }

  /** Anchors at the ends mean nothing when the whole string is generated. */
  #anchor(first: boolean): void {
    const before = this.#pattern.slice(0, this.#at);
    const after = this.#pattern.slice(this.#at + 1);
    const atStart = first && (this.#depth === 1 || /^\^?(\((\?:)?)*$/.test(before));
    const atEnd = this.#depth === 1 ? /^(\||$)/.test(after) : /^\)+\$?$/.test(after);
    if (!(this.#peek() === '^' ? atStart : atEnd)) throw this.#unsupported();
    this.#at += 1;
  }

  #repeat(node: PatternNode): PatternNode {
    const bounds = this.#bounds();
    if (bounds === undefined) return node;
    this.#take('?');
    const [low, high] = bounds;
    if (low > repeatLimit || low > high) throw this.#unsupported();
    return { type: 'repeat', node, low, high };
  }

  #bounds(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const match = this.#match(/^\{(\d{1,6})(,(\d{0,6}))?\}/);
    if (match === null) return undefined;
    const low = Number(match[1]);
    if (match[2] === undefined) return [low, low];
    return [low, match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3])];
  }

  #atom(): PatternNode {
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return this.#set();
    if (this.#take('.')) return this.#oneOf(printable);
    if ('*+?'.includes(this.#peek())) throw this.#unsupported();
    return this.#oneOf(this.#member());
  }

  #group(): PatternNode {
    if (this.#take('?') && !this.#take(':') && this.#match(/^<[A-Za-z_]\w*>/) === null) {
      throw this.#unsupported();
    }
    const node = this.#alternatives();
    if (!this.#take(')')) throw this.#unsupported();
    return node;
  }

  #set(): PatternNode {
    const negated = this.#take('^');
    const characters: string[] = [];
    while (!this.#take(']')) {
      const low = this.#member();
      const isRange = low.length === 1 && this.#peek() === '-' && this.#pattern[this.#at + 1] !== ']';
      if (isRange) this.#at += 1;
      characters.push(...(isRange ? this.#range(low, this.#member()) : low));
      if (characters.length > setLimit) throw this.#unsupported();
    }
    return this.#oneOf(negated ? without(characters) : characters);
  }

  /** One character, or those of an escape. */
  #member(): readonly string[] {
    const character = this.#next();
    if (character !== '\\') return [character];
    const code = this.#match(/^(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2}))/);
    if (code !== null) return [this.#character(code[1] ?? code[2] ?? code[3] ?? '')];
    const property = this.#match(/^p\{(\w+)\}/);
    const letter = property === null ? this.#next() : '';
    const known = property === null ? escapes.get(letter) : properties.get(property[1] ?? '');
    if (known !== undefined) return known;
    if (/^[A-Za-z0-9]?$/.test(letter)) throw this.#unsupported();
    return [letter];
  }

  #character(hex: string): string {
    const code = Number.parseInt(hex, 16);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw this.#unsupported();
    return String.fromCodePoint(code);
  }

  /** Enough of a range to choose from: a whole script is not spelt out. */
  #range([low = '']: readonly string[], [high = '', ...more]: readonly string[]): readonly string[] {
    const from = low.codePointAt(0) ?? 0;
    const to = high.codePointAt(0) ?? -1;
    if (more.length > 0 || to < from) throw this.#unsupported();
    return span(from, Math.min(to, from + 127));
  }

  #oneOf(characters: readonly string[]): PatternNode {
    const [first, ...others] = characters.filter((one) => !/[\ud800-\udfff]/.test(one) || one.length === 2);
    if (first === undefined) throw this.#unsupported();
    return { type: 'set', characters: [first, ...others] };
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? '';
  }

  #next(): string {
    const point = this.#pattern.codePointAt(this.#at);
    if (point === undefined) throw this.#unsupported();
    const character = String.fromCodePoint(point);
    this.#at += character.length;
    return character;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }

  #match(rule: RegExp): RegExpExecArray | null {
    const match = rule.exec(this.#pattern.slice(this.#at, this.#at + 100));
    if (match !== null) this.#at += match[0].length;
    return match;
  }

  #unsupported(): UnsupportedPattern {
    return new UnsupportedPattern(
      `has a "pattern" (${this.#pattern.slice(0, 80)}) the simulator cannot follow`,
    );
  }
}

function span(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));
}

function without(characters: readonly string[]): readonly string[] {
  return printable.filter((one) => !characters.includes(one));
}
