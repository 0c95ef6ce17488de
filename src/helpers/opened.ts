/** Keeps what a process opened, and closes it in reverse order. */

export class Opened {
  readonly #closing: (() => Promise<void> | void)[] = [];
  #closed: Promise<void> | undefined;

  add<T extends { close(): Promise<void> | void }>(part: T): T {
    this.#closing.push(() => part.close());
    return part;
  }

  onClose(close: () => Promise<void> | void): void {
    this.#closing.push(close);
  }

  /** A second call waits for the first. What cannot be closed keeps nothing else open; the first failure is thrown at the end. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closing.reverse())
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }
}

/** Runs `open`; when it fails, whatever it has opened by then is closed again. */
export const openAll = async <T>(open: (opened: Opened) => Promise<T>): Promise<T> => {
  const opened = new Opened();
  try {
    return await open(opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
};
