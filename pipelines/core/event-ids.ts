/** Gives the server-sent events of a stream their ids: numbers from 0. */

export class EventIds {
  /** Number of the next event. */
  next: number;
  /** The start of an event whose end is still to come. */
  #rest = '';

  constructor(next = 0) {
    this.next = next;
  }

  /** The whole events, each with its id; what is left over begins the next text. */
  number(bytes: string | Uint8Array): string {
    const text = this.#rest + (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString());
    // Most texts are one event.
    const end = text.indexOf('\n\n') + 2;
    if (end > 1 && end === text.length) {
      this.#rest = '';
      return `id: ${this.next++}\n${text}`;
    }
    return this.#each(text);
  }

  #each(text: string): string {
    let numbered = '';
    let at = 0;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n', at)) {
      numbered += `id: ${this.next++}\n${text.slice(at, end + 2)}`;
      at = end + 2;
    }
    this.#rest = text.slice(at);
    return numbered;
  }
}
