/** Keeps the text of a response in few bytes, for the case that its engine does not count it. */
import { fromJsonText, type JsonText } from '../ports/chat.ts';
import { estimatePiece } from './prompt.ts';

/** Characters that are kept: some 32,000 tokens. What comes after them is taken to be like them. */
const mostKept = 128 * 1024;
const firstSize = 512;

/**
 * One byte a character for ASCII and Latin-1, two from the first other one on. Copies: a piece of text can keep the
 * whole read that it was cut from.
 */
export class DeliveredText {
  /** Pieces that were not empty: most engines send one for each token. */
  pieces = 0;
  characters = 0;
  /** Tokens, by the lengths of the pieces alone. */
  estimate = 0;
  #kept = 0;
  #bytes: Uint8Array | undefined;
  #units: Uint16Array | undefined;

  add(text: JsonText): void {
    const { length } = text;
    if (length === 0) return;
    this.pieces++;
    this.characters += length;
    this.estimate += estimatePiece(length);
    if (this.#kept + length > mostKept) return;
    let store = this.#roomFor(length);
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code > 0xff && this.#units === undefined) store = this.#widen(length);
      store[this.#kept++] = code;
    }
  }

  /** What was kept, and how many characters of JSON it was. */
  take(): { readonly text: string; readonly characters: number } {
    const { buffer, encoding } =
      this.#units === undefined
        ? { buffer: this.#bytes?.subarray(0, this.#kept), encoding: 'latin1' as const }
        : { buffer: this.#units.subarray(0, this.#kept), encoding: 'utf16le' as const };
    if (buffer === undefined) return { text: '', characters: 0 };
    const json = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength).toString(encoding);
    return { text: fromJsonText(json as JsonText), characters: this.#kept };
  }

  #roomFor(length: number): Uint8Array | Uint16Array {
    const store = this.#units ?? this.#bytes;
    const needed = this.#kept + length;
    if (store !== undefined && needed <= store.length) return store;
    const size = sizeFor(needed);
    if (this.#units === undefined) {
      const bytes = new Uint8Array(size);
      if (this.#bytes !== undefined) bytes.set(this.#bytes.subarray(0, this.#kept));
      this.#bytes = bytes;
      return bytes;
    }
    const units = new Uint16Array(size);
    units.set(this.#units.subarray(0, this.#kept));
    this.#units = units;
    return units;
  }

  /** `length` of the piece that is being added. */
  #widen(length: number): Uint16Array {
    const units = new Uint16Array(Math.max(this.#bytes?.length ?? 0, sizeFor(this.#kept + length)));
    if (this.#bytes !== undefined) units.set(this.#bytes.subarray(0, this.#kept));
    this.#bytes = undefined;
    this.#units = units;
    return units;
  }
}

const sizeFor = (needed: number): number => {
  let size = firstSize;
  while (size < needed) size *= 2;
  return size;
};
