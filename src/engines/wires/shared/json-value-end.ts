/** Finds where a JSON value ends in a stream of bytes. */

export const quote = 0x22;
const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openArray = 0x5b;
export const closeArray = 0x5d;
export const openObject = 0x7b;
export const closeObject = 0x7d;

/** Up to here a loop is faster than a native search. */
const shortString = 32;

export class JsonValueEnd {
  #kind: 'string' | 'structure' | 'numbers' | 'scalar' = 'scalar';
  #depth = 0;
  /** In a string inside a structure. */
  #quoted = false;
  #escaped = false;

  /** A value starts with this byte. `numbers`: an array has no texts or objects in it. */
  begin(byte: number, numbers: boolean): void {
    const isStructure = byte === openObject || byte === openArray;
    if (byte === quote) this.#kind = 'string';
    else if (isStructure) this.#kind = numbers && byte === openArray ? 'numbers' : 'structure';
    else this.#kind = 'scalar';
    this.#depth = isStructure ? 1 : 0;
  }

  /** The index after its last byte, from `at` on; -1 when it continues in the next read. */
  find(bytes: Buffer, at: number): number {
    switch (this.#kind) {
      case 'string':
        return this.#stringEnd(bytes, at);
      case 'structure':
        return this.#structureEnd(bytes, at);
      case 'numbers':
        return this.#numbersEnd(bytes, at);
      case 'scalar':
        return scalarEnd(bytes, at);
    }
  }

  /** Short strings are searched by a loop, long ones natively. */
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
