/** Joins the pieces of a body within one read, in place. */
export class BodySegment {
  #from = 0;
  #to = 0;

  add(bytes: Buffer, from: number, to: number): void {
    if (this.#to > this.#from) this.#to += bytes.copy(bytes, this.#to, from, to);
    else {
      this.#from = from;
      this.#to = to;
    }
  }

  /** Undefined when there are none. */
  take(bytes: Buffer): Buffer | undefined {
    if (this.#to === this.#from) return undefined;
    const together = bytes.subarray(this.#from, this.#to);
    this.#from = 0;
    this.#to = 0;
    return together;
  }
}
