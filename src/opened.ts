/** Parts as they are opened in; all of them closed again out, the last one first. */

export class Opened {
  readonly #closing: (() => Promise<void> | void)[] = [];

  add<T extends { close(): Promise<void> | void }>(part: T): T {
    this.#closing.push(() => part.close());
    return part;
  }

  onClose(close: () => Promise<void> | void): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }
}
