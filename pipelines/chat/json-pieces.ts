/** Pieces of a JSON text in, some of them bytes already; the body of an answer out. */
import type { ReplyBody } from '../../src/ports/exchange.ts';

export class JsonPieces {
  /** The last of them is the place of what is still text. */
  #pieces: (string | Uint8Array)[] | undefined;
  #text = '';

  add(json: string): void {
    this.#text += json;
  }

  /** A string in quotes: as JSON has it, in UTF-8. */
  addText(bytes: Uint8Array): void {
    const before = `${this.#text}"`;
    if (this.#pieces === undefined) this.#pieces = [before, bytes, ''];
    else {
      this.#pieces[this.#pieces.length - 1] = before;
      this.#pieces.push(bytes, '');
    }
    this.#text = '"';
  }

  body(): ReplyBody {
    if (this.#pieces === undefined) return this.#text;
    this.#pieces[this.#pieces.length - 1] = this.#text;
    return this.#pieces;
  }
}
