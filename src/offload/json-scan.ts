/** Finds long base64 strings in the bytes of a JSON text, and enforces limits on the rest. */
import { fail } from '../errors.ts';
import { normalBase64 } from '../media/base64.ts';
import { dataUriHeader } from '../media/data-uri.ts';

export interface JsonBounds {
  /** Bytes of text that may be left when the base64 is taken out. */
  readonly maxText: number;
  /** Array elements. */
  readonly maxValues: number;
  /** Arrays, objects and object members: each costs the loop some twenty times as much as a number. */
  readonly maxMembers: number;
  /** Names of members included: each costs the loop some five times as much as a number. */
  readonly maxStrings: number;
  readonly maxDepth: number;
}

/** A string that leaves the text: from its first character to its closing quote. */
export interface Cut {
  readonly start: number;
  readonly end: number;
  /** Its characters without escapes; undefined for a data URI that is no base64. */
  readonly characters: Uint8Array | undefined;
  /** Set where it is no string, but an integer of more digits than a number holds. */
  readonly integer?: bigint;
}

const shortestCut = 4096;
const longestKey = 16;

/** A value under one of these may be a data URI, … */
const uriKeys = new Set('url image_url video_url audio_url file_url input_reference image'.split(' '));
/** … and under one of these also base64 by itself. */
const base64Keys = new Set(['data', 'file_data', 'b64_json']);

const byte = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  backslash: 0x5c,
  slash: 0x2f,
  u: 0x75,
  space: 0x20,
} as const;

/**
 * What is not JSON is not noticed here: a cut is a whole string or integer, so the rest is as wrong as the whole was.
 * `wideKey` names a member of the outermost object whose integer is wanted with all its digits.
 */
export const scanJson = (text: Buffer, bounds: JsonBounds, wideKey?: string): readonly Cut[] => {
  const cuts: Cut[] = [];
  const structure = new Structure(text, bounds);
  let cutLength = 0;
  let at = 0;
  let lastString = { start: 0, end: 0 };
  while (at < text.length) {
    const open = text.indexOf(byte.quote, at);
    const wide = wideKey !== undefined && structure.depth === 1 && wideInteger(text, lastString, at, wideKey);
    if (wide) cuts.push(wide);
    const before = structure.read(at, open < 0 ? text.length : open);
    const end = open < 0 ? -1 : closingQuote(text, open + 1);
    if (end < 0) break;
    const string = { start: open + 1, end };
    if (before === byte.colon && end - open > shortestCut) {
      const cut = cutOf(text, lastString, string);
      if (cut !== undefined) {
        cuts.push(cut);
        cutLength += end - open;
      }
    }
    if (at - cutLength > bounds.maxText) break;
    lastString = string;
    structure.strings++;
    at = end + 1;
  }
  if (text.length - cutLength > bounds.maxText) {
    throw fail(
      'payload_too_large',
      `The request holds more than ${bounds.maxText} bytes of text beside its base64 media`,
    );
  }
  return cuts;
};

/** Counts what stands between the strings. */
class Structure {
  readonly #text: Buffer;
  readonly #bounds: JsonBounds;
  depth = 0;
  strings = 0;
  #values = 0;
  #members = 0;

  constructor(text: Buffer, bounds: JsonBounds) {
    this.#text = text;
    this.#bounds = bounds;
  }

  /** The last byte that is not white space, 0 without one. */
  read(from: number, to: number): number {
    let last = 0;
    for (let at = from; at < to; at++) {
      const next = this.#text[at] as number;
      if (next <= byte.space) continue;
      last = next;
      // Brackets and braces differ from each other in one bit: [ and { open, ] and } close.
      const folded = next & 0xdf;
      if (folded === 0x5b) this.#open();
      else if (folded === 0x5d) this.depth--;
      else if (next === byte.colon) this.#members++;
      else if (next === byte.comma) this.#values++;
    }
    const { maxMembers, maxStrings, maxValues } = this.#bounds;
    if (this.#members > maxMembers || this.strings > maxStrings || this.#values > maxValues) {
      throw fail(
        'invalid_request',
        `The request holds more than ${maxMembers} members, ${maxStrings} strings or ${maxValues} values`,
      );
    }
    return last;
  }

  #open(): void {
    this.#members++;
    if (++this.depth > this.#bounds.maxDepth) {
      throw fail('invalid_request', `The request is nested more than ${this.#bounds.maxDepth} levels deep`);
    }
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const cutOf = (text: Buffer, key: Range, { start, end }: Range): Cut | undefined => {
  if (key.end - key.start > longestKey) return undefined;
  const name = text.toString('latin1', key.start, key.end);
  const bare = base64Keys.has(name);
  if (!bare && !uriKeys.has(name)) return undefined;
  const characters = withoutEscapes(text.subarray(start, end));
  const header = dataUriHeader(characters);
  if (header === undefined) {
    const base64 = bare ? normalBase64(characters) : undefined;
    return base64 && { start, end, characters: base64 };
  }
  const body = characters.subarray(header.length);
  const base64 = normalBase64(body);
  const isChanged = base64 !== undefined && base64 !== body;
  const uri = isChanged ? Buffer.concat([characters.subarray(0, header.length), base64]) : characters;
  return { start, end, characters: base64 && uri };
};

/** One that a float would round: sixteen digits and more. Those that no field could hold stay numbers. */
const wideNumber = /^\s*:\s*(-?[1-9]\d{15,30})(?=[\s,}])/;

const wideInteger = (text: Buffer, key: Range, after: number, wanted: string): Cut | undefined => {
  if (key.end - key.start !== wanted.length || text.toString('latin1', key.start, key.end) !== wanted)
    return undefined;
  const found = wideNumber.exec(text.toString('latin1', after, after + 64));
  if (found?.[1] === undefined) return undefined;
  const end = after + found[0].length;
  return { start: end - found[1].length, end, characters: undefined, integer: BigInt(found[1]) };
};

/** What stands for itself, and what `\n` and `\r` stand for. */
const escaped: Readonly<Record<number, number>> = { [byte.slash]: byte.slash, 110: 0x0a, 114: 0x0d };

/** Some serialisers write every slash as `\/`, others every plus as `\u002B`; besides there may be line breaks. */
const withoutEscapes = (characters: Buffer): Uint8Array => {
  if (!characters.includes(byte.backslash)) return characters;
  const plain = Buffer.allocUnsafeSlow(characters.length);
  let length = 0;
  for (let at = 0; at < characters.length; at++) {
    let next = characters[at] as number;
    if (next === byte.backslash) {
      next = characters[++at] as number;
      if (next === byte.u) {
        next = Number.parseInt(characters.toString('latin1', at + 1, at + 5), 16);
        at += 4;
      } else next = escaped[next] ?? 0;
      // Anything else than a character of base64 becomes a zero, which makes the whole invalid.
      if (!(next < 0x80)) next = 0;
    }
    plain[length++] = next;
  }
  return plain.subarray(0, length);
};

/** The quote that ends a string: the first one with an even number of backslashes before it. */
const closingQuote = (text: Buffer, start: number): number => {
  for (let end = text.indexOf(byte.quote, start); end >= 0; end = text.indexOf(byte.quote, end + 1)) {
    let escapes = end;
    while (escapes > start && text[escapes - 1] === byte.backslash) escapes--;
    if ((end - escapes) % 2 === 0) return end;
  }
  return -1;
};
