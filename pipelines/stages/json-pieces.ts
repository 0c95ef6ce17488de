/** Pieces of a JSON text in, some of them bytes already; the body of an answer out. */
import type { AnswerBody } from '../../src/ports/exchange.ts';

export class JsonPieces {
  #before: (string | Uint8Array)[] | undefined;
  #text = '';

  add(json: string): void {
    this.#text += json;
  }

  /** A string in quotes: as JSON has it, in UTF-8. */
  addText(bytes: Uint8Array): void {
    this.#before ??= [];
    this.#before.push(`${this.#text}"`, bytes);
    this.#text = '"';
  }

  body(): AnswerBody {
    return this.#before === undefined ? this.#text : [...this.#before, this.#text];
  }
}
