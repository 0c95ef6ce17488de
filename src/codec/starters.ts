/** Nothing in; the one process that starts others out: begun by the first who asks, and anew when it is gone. */
import { openStarter, type Starter } from './starter.ts';

export class Starters {
  #current: Promise<Starter> | undefined;

  async current(): Promise<Starter> {
    const last = this.#current;
    if (last === undefined) return this.#open();
    const starter = await last;
    if (await starter.usable()) return starter;
    // Somebody else may have asked meanwhile.
    if (this.#current !== last) return this.current();
    await Promise.all([this.#open(), starter.close()]);
    return this.current();
  }

  async close(): Promise<void> {
    await (await this.#current)?.close();
  }

  #open(): Promise<Starter> {
    this.#current = openStarter();
    // A folder that cannot be made now may be made later.
    this.#current.catch(() => {
      this.#current = undefined;
    });
    return this.#current;
  }
}
