/** Byte-pair encoding with a vocabulary in flat arrays: a tenth of the memory of maps with a string for each token. */
import { readFileSync } from 'node:fs';

/** No token: a pair that is never merged. */
const none = -1;
const lineEnd = 0x0a;
const space = 0x20;
const zero = 0x30;
/** The six bits of each character of base64. */
const padding = 64;
const sextets = new Uint8Array(256).fill(padding);
for (const [bits, character] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  sextets[character.charCodeAt(0)] = bits;

export class Vocabulary {
  readonly #split: RegExp;
  /** The bytes of all tokens by rank; those of one token end where the next begins. */
  readonly #bytes: Buffer;
  readonly #starts: Uint32Array;
  /** Ranks by the hash of their bytes, with linear probing. */
  readonly #ranks: Int32Array;
  #piece = new Uint8Array(1024);
  /** Where the parts of a piece begin, and the rank of each with the next one. */
  #parts = new Uint32Array(1024);
  #pairs = new Int32Array(1024);

  /** From lines of a token in base64 and its rank, in their order; `split` matches what is never merged across. */
  constructor(file: URL, split: RegExp) {
    const lines = readFileSync(file);
    if (lines.at(-1) !== lineEnd) throw new Error(`${file.pathname} is incomplete.`);
    const count = lines.reduce((total, byte) => (byte === lineEnd ? total + 1 : total), 0);
    this.#split = split;
    this.#bytes = Buffer.alloc(lines.length);
    this.#starts = new Uint32Array(count + 1);
    this.#ranks = new Int32Array(2 ** Math.ceil(Math.log2(count * 2))).fill(none);
    for (let rank = 0, at = 0; rank < count; rank++) at = this.#add(rank, lines, at);
  }

  countTokens(text: string): number {
    return this.#encode(text, undefined);
  }

  encode(text: string): number[] {
    const tokens: number[] = [];
    this.#encode(text, tokens);
    return tokens;
  }

  /** Bytes that are not UTF-8, as of a part of a character, become replacement characters. */
  decode(tokens: Iterable<number>): string {
    return Buffer.concat(Array.from(tokens, (token) => this.#bytesOf(token))).toString();
  }

  /** The token of the line at `start`; returns where the next line is. Without strings, which would be 200,000. */
  #add(rank: number, lines: Buffer, start: number): number {
    const own = this.#starts[rank] ?? 0;
    const lineEnds = lines.indexOf(lineEnd, start);
    const gap = lines.indexOf(space, start);
    let end = own;
    let bits = 0;
    let count = 0;
    for (let at = start; at < gap; at++) {
      const six = sextets[lines[at] ?? 0] ?? padding;
      if (six === padding) break;
      bits = (bits << 6) | six;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      this.#bytes[end++] = bits >> count;
    }
    let written = 0;
    for (let at = gap + 1; at < lineEnds; at++) written = written * 10 + (lines[at] ?? 0) - zero;
    if (end === own || written !== rank) throw new Error(`Line ${rank + 1} of the vocabulary is damaged.`);
    this.#starts[rank + 1] = end;
    this.#ranks[this.#place(this.#bytes, own, end)] = rank;
    return lineEnds + 1;
  }

  #bytesOf(token: number): Buffer {
    const start = this.#starts[token];
    const end = this.#starts[token + 1];
    if (start === undefined || end === undefined)
      throw new RangeError(`Token ${token} is not in the vocabulary.`);
    return this.#bytes.subarray(start, end);
  }

  /** Appends the tokens to `tokens`; returns how many there are. */
  #encode(text: string, tokens: number[] | undefined): number {
    let count = 0;
    for (const [piece] of text.matchAll(this.#split)) {
      const length = this.#write(piece);
      const rank = this.#rankOf(0, length);
      count += rank === none ? this.#merge(length, tokens) : 1;
      if (rank !== none) tokens?.push(rank);
    }
    return count;
  }

  #write(piece: string): number {
    const most = piece.length * 3;
    if (most >= this.#piece.length) {
      this.#piece = new Uint8Array(most * 2);
      this.#parts = new Uint32Array(most * 2);
      this.#pairs = new Int32Array(most * 2);
    }
    return utf8.encodeInto(piece, this.#piece).written;
  }

  /** Starts from single bytes and joins the pair of the lowest rank until there is none. */
  #merge(length: number, tokens: number[] | undefined): number {
    const parts = this.#parts;
    const pairs = this.#pairs;
    let count = length;
    for (let part = 0; part <= length; part++) parts[part] = part;
    for (let part = 0; part < count; part++) pairs[part] = this.#pairRank(part, count);
    for (let first = lowest(pairs, count); first !== none; first = lowest(pairs, count)) {
      parts.copyWithin(first + 1, first + 2, count + 1);
      pairs.copyWithin(first + 1, first + 2, count);
      count--;
      pairs[first] = this.#pairRank(first, count);
      if (first > 0) pairs[first - 1] = this.#pairRank(first - 1, count);
    }
    for (let part = 0; tokens !== undefined && part < count; part++)
      tokens.push(this.#rankOf(parts[part] ?? 0, parts[part + 1] ?? 0));
    return count;
  }

  #pairRank(part: number, count: number): number {
    if (part + 1 >= count) return none;
    return this.#rankOf(this.#parts[part] ?? 0, this.#parts[part + 2] ?? 0);
  }

  #rankOf(start: number, end: number): number {
    return this.#ranks[this.#place(this.#piece, start, end)] ?? none;
  }

  /** Where the rank of some bytes is in the table, or would be. */
  #place(bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#ranks.length - 1;
    let hash = 0x811c9dc5;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
    let place = (hash ^ (hash >>> 15)) & mask;
    while (!this.#fits(place, bytes, start, end)) place = (place + 1) & mask;
    return place;
  }

  #fits(place: number, bytes: Uint8Array, start: number, end: number): boolean {
    const rank = this.#ranks[place] ?? none;
    if (rank === none) return true;
    const own = this.#starts[rank] ?? 0;
    if ((this.#starts[rank + 1] ?? 0) - own !== end - start) return false;
    for (let at = start; at < end; at++) if (this.#bytes[own + at - start] !== bytes[at]) return false;
    return true;
  }
}

const utf8 = new TextEncoder();

/** Where the lowest rank is, the first of equals. */
const lowest = (pairs: Int32Array, count: number): number => {
  let found = none;
  let least = Number.POSITIVE_INFINITY;
  for (let part = 0; part < count; part++) {
    const rank = pairs[part] ?? none;
    if (rank === none || rank >= least) continue;
    least = rank;
    found = part;
  }
  return found;
};
