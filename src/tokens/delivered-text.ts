/** Keeps the text of a response in few bytes, for the case that its engine does not count it. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { JoinedBytes } from '../helpers/joined-bytes.ts';
import { fromJsonText, type JsonText } from '../ports/engines/chat.ts';
import { estimatePiece } from './prompt.ts';

/** Characters that are kept: some 32,000 tokens. What comes after them is taken to be like them. */
const mostKept = 128 * 1024;
/** Characters that are encoded at once: one by one, pieces cost more than all else that is done for them. */
const encodedAtOnce = 256;
/** Bytes that are compressed at once: about 0.15 ms of work, and less than half of them are left. */
const compressedAtOnce = 8 * 1024;

/** Bytes, because a piece of text can keep the whole read that it was cut from. */
export class DeliveredText {
  /** Pieces that were not empty: most engines send one for each token. */
  pieces = 0;
  characters = 0;
  /** Tokens, by the lengths of the pieces alone. */
  estimate = 0;
  #kept = 0;
  #latest = '';
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
    this.#latest += text;
    if (this.#latest.length > encodedAtOnce) this.#encode();
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

  #encode(): void {
    this.#recent.add(Buffer.from(this.#latest));
    this.#latest = '';
    if (this.#recent.length >= compressedAtOnce)
      this.#earlier.add(gzipSync(this.#recent.take(), { level: 1 }));
  }

  #take(): Buffer {
    this.#encode();
    const recent = this.#recent.take();
    return this.#earlier.length === 0 ? recent : Buffer.concat([gunzipSync(this.#earlier.take()), recent]);
  }
}
