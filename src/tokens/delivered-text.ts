/** Keeps the text of a response in few bytes, for the case that its engine does not count it. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { JoinedBytes } from '../helpers/joined-bytes.ts';
import { fromJsonText, type JsonText } from '../ports/engines/chat.ts';
import { estimatePiece } from './prompt.ts';

/** Characters that are kept: some 32,000 tokens. What comes after them is taken to be like them. */
const mostKept = 128 * 1024;
/** Bytes of the latest pieces. */
const latestBytes = 256;
/** Of UTF-8, for one code unit. */
const mostBytes = 3;
/** Bytes that are compressed at once: about 0.15 ms of work, and less than half of them are left. */
const compressedAtOnce = 8 * 1024;

/**
 * Bytes, because a piece of text can keep the whole read that it was cut from, and because strings that live for a
 * second are promoted: at a thousand streams they were most of what scavenges had to copy.
 */
export class DeliveredText {
  /** Pieces that were not empty: most engines send one for each token. */
  pieces = 0;
  characters = 0;
  /** Tokens, by the lengths of the pieces alone. */
  estimate = 0;
  #kept = 0;
  #latest: Buffer | undefined;
  #used = 0;
  readonly #recent = new JoinedBytes();
  /** What came before, as members of a gzip file: a client that reads slowly keeps it for long. */
  readonly #earlier = new JoinedBytes();

  add(text: JsonText): void {
    const { length } = text;
    if (length === 0) return;
    this.pieces++;
    this.characters += length;
    this.estimate += estimatePiece(length);
    if (this.#kept + length > mostKept) return;
    this.#kept += length;
    if (mostBytes * length > latestBytes) {
      this.#closeLatest();
      this.#recent.add(Buffer.from(text));
      return;
    }
    if (this.#used + mostBytes * length > latestBytes) this.#closeLatest();
    this.#latest ??= Buffer.allocUnsafe(latestBytes);
    this.#used += writeText(text, this.#latest, this.#used);
  }

  /** All that was added is kept. */
  get isWhole(): boolean {
    return this.#kept === this.characters;
  }

  /** What was kept, which stays. */
  read(): string {
    const bytes = this.#take();
    this.#recent.append(bytes);
    return fromJsonText(bytes.toString() as JsonText);
  }

  /** What was kept, and how many characters of JSON it was; empty afterwards. */
  take(): { readonly text: string; readonly characters: number } {
    const text = fromJsonText(this.#take().toString() as JsonText);
    const characters = this.#kept;
    this.#kept = 0;
    return { text, characters };
  }

  #closeLatest(): void {
    if (this.#latest !== undefined) this.#recent.add(this.#latest.subarray(0, this.#used));
    this.#used = 0;
    if (this.#recent.length >= compressedAtOnce)
      this.#earlier.add(gzipSync(this.#recent.take(), { level: 1 }));
  }

  #take(): Buffer {
    this.#closeLatest();
    const recent = this.#recent.take();
    return this.#earlier.length === 0 ? recent : Buffer.concat([gunzipSync(this.#earlier.take()), recent]);
  }
}

/** Most pieces are short and ASCII: those take 45 to 90 ns, and a call into Node's encoder 130 to 260. */
const writeText = (text: string, target: Buffer, from: number): number => {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 127) return target.write(text, from);
    target[from + index] = code;
  }
  return text.length;
};
