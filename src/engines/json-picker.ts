/** The bytes of a JSON text in, however they were cut; the wanted values out, each as its own bytes. Nothing else of the text is kept or made into objects. */
import { fail } from '../errors.ts';

/** What is wanted of a value: all of it, or some of what is inside. Values of another type are passed over. */
export type Pick = RawPick | ObjectPick | ArrayPick;

export interface RawPick {
  /** The value from its first to its last byte. */
  raw(bytes: Buffer): void;
  /** An array here has no texts or objects in it, only numbers and arrays of them: its end is found much faster. */
  readonly numbers?: true;
}

export interface ObjectPick {
  readonly keys: ReadonlyMap<string, Pick>;
  end?(): void;
}

export interface ArrayPick {
  readonly items: Pick;
  end?(): void;
}

/** What must come next. */
type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/** Inside a value that is taken or passed over as a whole. */
type Inside = 'nothing' | 'string' | 'structure' | 'numbers' | 'scalar';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Up to here a loop of our own is faster than a call of the machine's. */
const shortString = 32;

const passOver: RawPick = { raw: () => undefined };

export class JsonPicker {
  #expected: Expected = 'value';
  /** The objects and arrays around the current place, the innermost last. */
  readonly #open: (ObjectPick | ArrayPick)[] = [];
  /** What is wanted of the value that comes next. */
  #pick: Pick;
  readonly #key: RawPick = { raw: (bytes) => this.#nameValue(bytes) };
  #taking: RawPick = passOver;
  #inside: Inside = 'nothing';
  #depth = 0;
  /** In a string inside a structure. */
  #quoted = false;
  #escaped = false;
  /** The value's bytes from earlier reads. */
  #pieces: Buffer[] = [];

  constructor(pick: Pick) {
    this.#pick = pick;
  }

  /** Throws `engine_unreachable` where the text is no JSON; what is passed over is not looked at closely. */
  push(bytes: Buffer): void {
    let at = 0;
    if (this.#inside !== 'nothing') at = this.#take(bytes, 0, 0);
    while (at < bytes.length) {
      const byte = bytes[at] ?? 0;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) at++;
      else at = this.#next(bytes, at, byte);
    }
  }

  /** The text is over; throws when it was not whole. */
  end(): void {
    if (this.#expected !== 'nothing' || this.#inside !== 'nothing') throw unreadable();
  }

  #next(bytes: Buffer, at: number, byte: number): number {
    switch (this.#expected) {
      case 'value-or-end':
        if (byte === closeArray) return this.#leave(at);
        return this.#value(bytes, at, byte);
      case 'value':
        return this.#value(bytes, at, byte);
      case 'key-or-end':
        if (byte === closeObject) return this.#leave(at);
        return this.#keyAt(bytes, at, byte);
      case 'key':
        return this.#keyAt(bytes, at, byte);
      case 'colon':
        if (byte !== colon) throw unreadable();
        this.#expected = 'value';
        return at + 1;
      case 'comma-or-end':
        return this.#goOn(at, byte);
      case 'nothing':
        throw unreadable();
    }
  }

  #goOn(at: number, byte: number): number {
    const around = this.#open[this.#open.length - 1];
    const inArray = around !== undefined && 'items' in around;
    if (byte === (inArray ? closeArray : closeObject)) return this.#leave(at);
    if (byte !== comma) throw unreadable();
    if (inArray) this.#pick = around.items;
    this.#expected = inArray ? 'value' : 'key';
    return at + 1;
  }

  #value(bytes: Buffer, at: number, byte: number): number {
    const pick = this.#pick;
    if (byte === openObject && 'keys' in pick) {
      this.#open.push(pick);
      this.#expected = 'key-or-end';
      return at + 1;
    }
    if (byte === openArray && 'items' in pick) {
      this.#open.push(pick);
      this.#pick = pick.items;
      this.#expected = 'value-or-end';
      return at + 1;
    }
    return this.#start(bytes, at, byte, 'raw' in pick ? pick : passOver);
  }

  #keyAt(bytes: Buffer, at: number, byte: number): number {
    if (byte !== quote) throw unreadable();
    return this.#start(bytes, at, byte, this.#key);
  }

  #nameValue(key: Buffer): void {
    const text = key.toString('utf8');
    const name = text.includes('\\') ? unescaped(text) : text.slice(1, -1);
    const around = this.#open[this.#open.length - 1];
    this.#pick = (around !== undefined && 'keys' in around ? around.keys.get(name) : undefined) ?? passOver;
  }

  #leave(at: number): number {
    this.#open.pop()?.end?.();
    this.#expected = this.#open.length === 0 ? 'nothing' : 'comma-or-end';
    return at + 1;
  }

  // ── a value as a whole ───────────────────────────────────────────────────────────────────────────

  #start(bytes: Buffer, at: number, byte: number, taking: RawPick): number {
    this.#taking = taking;
    if (byte === quote) {
      this.#inside = 'string';
      return this.#take(bytes, at, at + 1);
    }
    if (byte === openObject || byte === openArray) {
      this.#inside = byte === openArray && taking.numbers ? 'numbers' : 'structure';
      this.#depth = 0;
      return this.#take(bytes, at, at);
    }
    if (byte === comma || byte === colon || byte === closeArray || byte === closeObject) throw unreadable();
    this.#inside = 'scalar';
    return this.#take(bytes, at, at + 1);
  }

  /** Reads on from `at` in the value whose bytes of this read begin at `start`; returns where what follows it begins. */
  #take(bytes: Buffer, start: number, at: number): number {
    const end = this.#end(bytes, at);
    const isOver = end >= 0;
    const wanted = this.#taking !== passOver;
    if (!isOver) {
      if (wanted) this.#pieces.push(bytes.subarray(start));
      return bytes.length;
    }
    this.#inside = 'nothing';
    const isKey = this.#taking === this.#key;
    this.#expected = isKey ? 'colon' : this.#open.length === 0 ? 'nothing' : 'comma-or-end';
    if (wanted) this.#hand(bytes.subarray(start, end));
    return end;
  }

  /** Where the value ends; -1 when it goes on in the next read. */
  #end(bytes: Buffer, at: number): number {
    switch (this.#inside) {
      case 'string':
        return this.#stringEnd(bytes, at);
      case 'structure':
        return this.#structureEnd(bytes, at);
      case 'numbers':
        return this.#numbersEnd(bytes, at);
      default:
        return scalarEnd(bytes, at);
    }
  }

  #hand(last: Buffer): void {
    const pieces = this.#pieces;
    if (pieces.length > 0) this.#pieces = [];
    this.#taking.raw(pieces.length === 0 ? last : Buffer.concat([...pieces, last]));
  }

  /** After the closing quote; -1 when it has not come. Short strings are looked through here, long ones by the machine. */
  #stringEnd(bytes: Buffer, from: number): number {
    const { length } = bytes;
    let at = this.#escaped ? from + 1 : from;
    for (const near = Math.min(length, at + shortString); at < near; at++) {
      const byte = bytes[at];
      if (byte === quote) {
        this.#escaped = false;
        return at + 1;
      }
      if (byte === backslash) at++;
    }
    while (at < length) {
      const found = bytes.indexOf(quote, at);
      const end = found < 0 ? length : found;
      let slashes = 0;
      while (end - slashes > at && bytes[end - slashes - 1] === backslash) slashes++;
      const isEscaped = slashes % 2 === 1;
      if (found >= 0 && !isEscaped) {
        this.#escaped = false;
        return found + 1;
      }
      at = end + (isEscaped ? 1 : 0);
    }
    // One past the end: the last byte was a backslash.
    this.#escaped = at > length;
    return -1;
  }

  #numbersEnd(bytes: Buffer, from: number): number {
    let at = from;
    for (;;) {
      const close = bytes.indexOf(closeArray, at);
      const open = bytes.indexOf(openArray, at);
      const next = open >= 0 && (close < 0 || open < close) ? open : close;
      if (next < 0) return -1;
      at = next + 1;
      this.#depth += next === open ? 1 : -1;
      if (this.#depth === 0) return at;
    }
  }

  #structureEnd(bytes: Buffer, from: number): number {
    const { length } = bytes;
    let depth = this.#depth;
    let at = from;
    while (at < length) {
      if (this.#quoted) {
        at = this.#stringEnd(bytes, at);
        if (at < 0) break;
        this.#quoted = false;
      }
      while (at < length && (weight[bytes[at] ?? 0] ?? 0) === 0) at++;
      if (at === length) break;
      const change = weight[bytes[at++] ?? 0];
      if (change === quoted) this.#quoted = true;
      else {
        depth += change === closing ? -1 : 1;
        if (depth === 0) return at;
      }
    }
    this.#depth = depth;
    return -1;
  }
}

const opening = 1;
const closing = 2;
const quoted = 3;
/** What a byte outside of strings does to the depth; most do nothing. */
const weight = new Uint8Array(256);
weight[openArray] = opening;
weight[openObject] = opening;
weight[closeArray] = closing;
weight[closeObject] = closing;
weight[quote] = quoted;

/** Before whatever ends a number, `true`, `false` or `null`. */
const scalarEnd = (bytes: Buffer, from: number): number => {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === comma || byte === closeObject || byte === closeArray || byte <= 0x20) return at;
  }
  return -1;
};

const unescaped = (text: string): string => {
  try {
    return JSON.parse(text) as string;
  } catch (cause) {
    throw unreadable(cause);
  }
};

export const unreadable = (cause?: unknown) =>
  fail('engine_unreachable', 'The engine sent an answer that cannot be read', { cause });
